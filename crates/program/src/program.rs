//! A loaded and analyzed program.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::assumptions::{Assumption, Assumptions};
use crate::classes::{Classes, Loader};
use crate::error::LoadError;
use crate::heap::{Bodies, Built, Detail, Entry, Heap, Solver};
use crate::ids::{ClassId, FieldId, InstrId, MethodId, NodeId};
use crate::ir::{Body, build_bodies, build_body};
use crate::library::Library;
use crate::load::{ClassPath, Origin};
use crate::locks::{Locks, Summaries};
use crate::plan::LoadPlan;
use crate::threads::{Sharing, Threads};
use crate::waiting::Waits;

/// The model of a program. It does not change any more; all of it may be read by several threads.
#[derive(Debug)]
pub struct Program {
    classes: Classes,
    library: Library,
    inputs: Vec<ClassId>,
    bodies: Vec<OnceLock<Option<Arc<Built>>>>,
    locks: Vec<OnceLock<Locks>>,
    summaries: Summaries,
    heap: Heap,
    threads: Threads,
    sharing: Sharing,
    waits: OnceLock<Waits>,
    assumptions: Assumptions,
    stats: Stats,
    is_application: bool,
}

/// How large the program is and how long its analysis took.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "counts and times of what they are named after")]
pub struct Stats {
    pub input_classes: usize,
    pub loaded_classes: usize,
    pub missing_classes: usize,
    pub input_bodies: usize,
    pub reachable_methods: usize,
    pub nodes: usize,
    pub call_edges: usize,
    pub objects: usize,
    pub variables: usize,
    pub copy_edges: usize,
    pub set_bytes: usize,
    pub threads: usize,
    pub shared_objects: usize,
    pub load_time: Duration,
    pub body_time: Duration,
    pub heap_time: Duration,
    pub thread_time: Duration,
}

impl Program {
    /// Loads and analyzes what a plan says.
    pub fn load(plan: &LoadPlan) -> Result<Self, LoadError> {
        let mut stats = Stats::default();
        let clock = Instant::now();
        let library = Library::embedded();
        let mut assumptions = Assumptions::default();
        let path = ClassPath::open(
            &plan.inputs,
            &plan.classpath,
            &plan.jdk,
            plan.release,
            plan.limits,
            &mut assumptions,
        )?
        .with_packed_libraries(plan.packed_are_libraries);
        let mut loader = Loader::new(path, plan.limits, assumptions);
        let mut inputs = loader.load_inputs()?;
        for name in &plan.jdk_classes {
            inputs.push(loader.load_as_input(name)?);
        }
        if inputs.is_empty() {
            return Err(LoadError::NothingToAnalyze);
        }
        let entry = match &plan.main {
            Some(name) => Entry::Main(main_method(&mut loader, name)?),
            None => Entry::Clients(inputs.clone()),
        };
        loader.link(&inputs);
        stats.load_time = clock.elapsed();
        let clock = Instant::now();
        let mut built = build_inputs(&mut loader, &inputs);
        stats.input_bodies = built.len();
        stats.body_time = clock.elapsed();
        let clock = Instant::now();
        let heap = solve(&mut loader, &library, &mut built, &entry, plan);
        stats.heap_time = clock.elapsed();
        let clock = Instant::now();
        let Loader {
            classes,
            assumptions,
            ..
        } = loader;
        let in_loop = |node: NodeId, instr: InstrId| {
            heap.body(node)
                .is_none_or(|body| body.block(body.instr(instr).block).in_loop)
        };
        let threads = Threads::find(&heap, &classes, &library, &in_loop);
        let sharing = Sharing::find(&heap, &threads, &classes, &library);
        stats.thread_time = clock.elapsed();
        let bodies: Vec<OnceLock<Option<Arc<Built>>>> = (0..classes.method_count())
            .map(|_| OnceLock::new())
            .collect();
        for (method, body) in built {
            let _ = bodies[method.index()].set(body);
        }
        let summaries = Summaries::find(&heap, &classes, &library);
        let locks = (0..classes.method_count())
            .map(|_| OnceLock::new())
            .collect();
        let mut program = Self {
            classes,
            library,
            inputs,
            bodies,
            locks,
            summaries,
            heap,
            threads,
            sharing,
            waits: OnceLock::new(),
            assumptions,
            stats,
            is_application: plan.main.is_some(),
        };
        program.count_unmatched_locks();
        program.measure();
        Ok(program)
    }

    fn measure(&mut self) {
        let (variables, copy_edges, set_bytes) = self.heap.size();
        let loaded =
            |class: &ClassId| self.classes.class(*class).kind == crate::classes::ClassKind::Loaded;
        let mut methods: Vec<MethodId> = self
            .heap
            .node_ids()
            .map(|node| self.heap.node(node).method)
            .collect();
        methods.sort_unstable();
        methods.dedup();
        let stats = &mut self.stats;
        stats.input_classes = self.inputs.len();
        stats.loaded_classes = self.classes.class_ids().filter(loaded).count();
        stats.missing_classes = self.assumptions.subjects(Assumption::MissingClass);
        stats.reachable_methods = methods.len();
        stats.nodes = self.heap.node_ids().len();
        stats.call_edges = self.heap.calls().len();
        stats.objects = self.heap.object_ids().len();
        (stats.variables, stats.copy_edges, stats.set_bytes) = (variables, copy_edges, set_bytes);
        stats.threads = self.threads.ids().count();
        stats.shared_objects = self.sharing.shared().len();
    }

    fn count_unmatched_locks(&mut self) {
        let unmatched: Vec<_> = self
            .inputs
            .par_iter()
            .flat_map_iter(|class| self.classes.class(*class).methods.iter())
            .filter_map(|method| self.locks(*method).unmatched().map(|kind| (kind, *method)))
            .collect();
        for (kind, method) in unmatched {
            self.assumptions
                .add(kind, self.classes.describe_method(method));
        }
    }

    /// Classes, fields and methods.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The library models.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The analyzed classes, in a fixed order.
    pub fn inputs(&self) -> &[ClassId] {
        &self.inputs
    }

    /// Whether a class is analyzed, rather than used by what is.
    pub fn is_input(&self, class: ClassId) -> bool {
        self.classes.class(class).origin == Origin::Input
    }

    /// Whether the program has a main method; else it is a library.
    pub fn is_application(&self) -> bool {
        self.is_application
    }

    /// The body of a method; `None` if it has no code, the code is malformed, or its class was never needed.
    pub fn body(&self, method: MethodId) -> Option<&Body> {
        self.bodies[method.index()]
            .get_or_init(|| {
                build_body(&self.classes, method)
                    .ok()
                    .map(|body| Arc::new(Built::new(body)))
            })
            .as_ref()
            .map(|built| &built.body)
    }

    /// The locks a method's body takes, and where it holds them.
    pub fn locks(&self, method: MethodId) -> &Locks {
        self.locks[method.index()].get_or_init(|| match self.body(method) {
            Some(body) => Locks::find(body, &self.classes, &self.heap, &self.summaries),
            None => Locks::default(),
        })
    }

    /// Whether a method waits for other threads by its purpose, itself or in what it calls.
    pub fn waits(&self, method: MethodId) -> bool {
        let waits = (self.waits).get_or_init(|| Waits::find(&self.heap, &self.classes));
        waits.contains(method)
    }

    /// Whether several threads of an application may call a method on one object, or on static fields that change.
    pub fn is_called_by_several(&self, method: MethodId) -> bool {
        if !self.is_application {
            return false;
        }
        let called = self.classes.method(method);
        if called.flags.is_static() {
            let fields = &self.classes.class(called.class).fields;
            let changes = |field: &FieldId| {
                let flags = self.classes.field(*field).flags;
                flags.is_static() && !flags.is_final()
            };
            return !self.heap.nodes_of(method).is_empty() && fields.iter().any(changes);
        }
        let shared = self.sharing.shared();
        (self.heap.nodes_of(method).iter())
            .any(|node| self.heap.param_points_to(*node, 0).intersects(shared))
    }

    /// Call graph and points-to sets.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Abstract threads.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Which abstract objects are shared.
    pub fn sharing(&self) -> &Sharing {
        &self.sharing
    }

    /// What was assumed.
    pub fn assumptions(&self) -> &Assumptions {
        &self.assumptions
    }

    /// Sizes and times.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}

/// Call graph and points-to sets, with objects told apart by where they are made if that can be done in time.
fn solve(
    loader: &mut Loader,
    library: &Library,
    built: &mut Bodies,
    entry: &Entry,
    plan: &LoadPlan,
) -> Heap {
    if !plan.by_class {
        let assumptions = loader.assumptions.clone();
        let mut solver = Solver::new(loader, library, built, Detail::Sites);
        solver.precision.hurry = plan.hurry;
        solver.enter(entry);
        if let Some(heap) = solver.solve() {
            return heap;
        }
        loader.assumptions = assumptions;
    }
    let mut solver = Solver::new(loader, library, built, Detail::Classes);
    solver.enter(entry);
    solver.solve_to_the_end()
}

/// Builds every body of the inputs: what cannot be built is counted, reachable or not.
fn build_inputs(loader: &mut Loader, inputs: &[ClassId]) -> Bodies {
    let classes = &loader.classes;
    let methods: Vec<MethodId> = inputs
        .iter()
        .flat_map(|class| classes.class(*class).methods.iter().copied())
        .filter(|method| classes.method(*method).has_code)
        .collect();
    let mut bodies = Bodies::default();
    for (method, result) in build_bodies(classes, &methods) {
        if let Err(error) = &result {
            let subject = format!("{}: {error}", loader.classes.describe_method(method));
            loader.assumptions.add(Assumption::UnreadableBody, subject);
        }
        bodies.insert(method, result.ok().map(|body| Arc::new(Built::new(body))));
    }
    bodies
}

fn main_method(loader: &mut Loader, name: &str) -> Result<MethodId, LoadError> {
    let class = loader.load_named(name)?;
    let classes = &loader.classes;
    let with_arguments = classes
        .superclasses(class)
        .find_map(|class| classes.declared_method(class, "main", "([Ljava/lang/String;)V"));
    // Since Java 25 main may be an instance method, and may do without its parameter.
    with_arguments
        .or_else(|| {
            classes
                .superclasses(class)
                .find_map(|class| classes.declared_method(class, "main", "()V"))
        })
        .filter(|method| classes.method(*method).has_code)
        .ok_or_else(|| LoadError::NoMain {
            name: name.to_owned(),
        })
}
