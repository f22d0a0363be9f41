//! Which methods to call in two threads: those that somebody suspects, then those of classes that expect threads, each with the methods that access what it accesses.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use untorn_findings::{Document, Finding, Level, Region, Verdict};
use untorn_program::classes::{ClassKind, Classes};
use untorn_program::ir::Op;
use untorn_program::{ClassId, FieldId, MethodId, NodeId, Program};

/// With how many others a method is called, at most.
const PARTNERS: usize = 12;
/// Methods of locks whose answer says what other threads are doing right now.
const ASKING: [&str; 12] = [
    "tryLock",
    "tryAcquire",
    "tryReadLock",
    "tryWriteLock",
    "isLocked",
    "isReadLocked",
    "isWriteLocked",
    "getReadLockCount",
    "hasQueuedThreads",
    "getQueueLength",
    "availablePermits",
    "holdsLock",
];
/// Words for calls that take away what others rely on.
const ENDING: [&str; 9] = [
    "clear", "remove", "reset", "set", "delete", "poll", "pop", "close", "trim",
];
/// How far a suspected method that is not public is followed to public ones that call it.
const CALLERS: usize = 4;

/// A method by its name and descriptor.
pub type Named = (String, String);

/// Two methods for two threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The class whose objects are made, with dots.
    pub class: String,
    /// What may be torn, and what may tear it.
    pub torn: Named,
    pub by: Named,
    /// The class that declares the first, with dots.
    pub declared_by: String,
    /// The number of the finding that suspects it, or something that it calls.
    pub finding: Option<usize>,
}

impl Pair {
    /// Whether a region is the method that may be torn, and not something that it calls.
    pub fn is_of(&self, region: &Region) -> bool {
        let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|it| it == is);
        region.method == self.torn.0
            && same(&region.descriptor, &self.torn.1)
            && same(&region.class, &self.declared_by)
    }
}

/// What can be exercised.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The most promising first.
    pub pairs: Vec<Pair>,
    /// Public classes of the input, which objects may be made of.
    pub known: Vec<String>,
}

/// Chooses pairs; `expects_threads` says of a class of the input whether threads are meant to share its objects.
pub fn choose(
    program: &Program,
    document: &Document,
    expects_threads: &dyn Fn(ClassId) -> bool,
) -> Pairs {
    let chooser = Chooser::new(program);
    let mut pairs = Pairs::default();
    let made: Vec<ClassId> = chooser.classes_to_make();
    pairs.known = (program.inputs().iter())
        .filter(|&&class| chooser.is_nameable(class))
        .map(|&class| dotted(program.classes().class_name(class)))
        .collect();
    let mut wanted: Vec<(ClassId, MethodId, Option<usize>)> = Vec::new();
    let mut done: HashSet<(ClassId, MethodId)> = HashSet::new();
    let mut want = |class, method, finding, wanted: &mut Vec<_>| {
        if done.insert((class, method)) {
            wanted.push((class, method, finding));
        }
    };
    let suspected =
        |finding: &Finding| finding.verdict >= Verdict::Suspected && finding.region.field.is_none();
    let meant: Vec<(usize, MethodId)> = (document.findings.iter().enumerate())
        .filter(|(_, finding)| suspected(finding))
        .flat_map(|(number, it)| {
            let methods = chooser.methods_of(&it.region).into_iter();
            methods.map(move |method| (number, method))
        })
        .collect();
    // What is suspected itself, before what only calls something that is.
    for is_own in [true, false] {
        for &(number, method) in &meant {
            for method in chooser
                .public_callers(method, &made)
                .into_iter()
                .filter(|it| (*it == method) == is_own)
            {
                if let Some(class) = chooser.made_for(method, &made) {
                    want(class, method, Some(number), &mut wanted);
                }
            }
        }
    }
    for &class in &made {
        let all = program.classes().superclasses(class);
        if !std::iter::once(class).chain(all).any(expects_threads) {
            continue;
        }
        for method in chooser.public_methods(class) {
            want(class, method, None, &mut wanted);
        }
    }
    // All with their best partner first, then all with their second.
    let mut ranked: Vec<(usize, Pair)> = Vec::new();
    for (class, torn, finding) in wanted {
        let level = finding.map(|number| document.findings[number].level());
        let later = match level {
            Some(Level::High) => 0,
            Some(Level::Medium) => 1,
            Some(Level::Low) => 2,
            None => 3,
        } - usize::from(chooser.takes_its_own(class, torn))
            .min(usize::from(level != Some(Level::High)));
        for (place, by) in chooser.partners(class, torn).into_iter().enumerate() {
            ranked.push((place + later, chooser.pair(class, torn, by, finding)));
        }
    }
    ranked.sort_by_key(|(place, _)| *place);
    pairs.pairs = ranked.into_iter().map(|(_, pair)| pair).collect();
    pairs
}

/// What a method accesses, with all that it calls.
#[derive(Clone, Debug, Default)]
struct Accesses {
    read: BTreeSet<FieldId>,
    written: BTreeSet<FieldId>,
    /// Whether it tells callers that a lock was not free, which no serial order can show and is meant so.
    asks_locks: bool,
}

struct Chooser<'p> {
    program: &'p Program,
    classes: &'p Classes,
    accesses: std::cell::RefCell<HashMap<MethodId, Accesses>>,
}

impl<'p> Chooser<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            classes: program.classes(),
            accesses: std::cell::RefCell::default(),
        }
    }

    /// Whether somebody could have objects of it: one that is not public may come from a factory.
    fn is_makeable(&self, class: ClassId) -> bool {
        let class = self.classes.class(class);
        class.kind == ClassKind::Loaded && class.nameable
    }

    fn is_nameable(&self, class: ClassId) -> bool {
        let class = self.classes.class(class);
        class.kind == ClassKind::Loaded && class.nameable && class.flags.is_public()
    }

    fn classes_to_make(&self) -> Vec<ClassId> {
        let fits = |class: &ClassId| {
            let flags = self.classes.class(*class).flags;
            // What has only static methods is often declared abstract.
            self.is_makeable(*class) && !flags.is_interface()
        };
        self.program.inputs().iter().copied().filter(fits).collect()
    }

    /// The methods that a region means.
    fn methods_of(&self, region: &Region) -> Vec<MethodId> {
        let name = region
            .class
            .as_deref()
            .unwrap_or_default()
            .replace('.', "/");
        let Some(class) = self.classes.find(&name) else {
            return Vec::new();
        };
        let all = self.classes.methods_named(class, &region.method);
        let is_meant = |method: &MethodId| {
            let descriptor = region.descriptor.as_deref();
            descriptor.is_none_or(|wanted| wanted == self.classes.method_descriptor(*method))
        };
        all.filter(is_meant).collect()
    }

    fn is_callable(&self, method: MethodId) -> bool {
        let it = self.classes.method(method);
        it.flags.is_public()
            && !it.flags.is_synthetic()
            && it.has_code
            && !self.classes.is_constructor(method)
            && !self.classes.is_class_initializer(method)
    }

    /// The method itself if clients can call it, else the methods that call it, directly or not, and that they can.
    ///
    /// A base class that nobody may name has public methods, too: those are called only where no class below has its own.
    fn public_callers(&self, method: MethodId, made: &[ClassId]) -> Vec<MethodId> {
        let can_be_called =
            |method| self.is_callable(method) && self.made_for(method, made).is_some();
        if can_be_called(method) {
            return vec![method];
        }
        let heap = self.program.heap();
        let mut found = BTreeMap::new();
        let mut seen: HashSet<NodeId> = HashSet::new();
        let mut next: Vec<NodeId> = heap.nodes_of(method).to_vec();
        for _ in 0..CALLERS {
            let mut callers = Vec::new();
            for edge in next.iter().flat_map(|node| heap.calls_to(*node)) {
                let caller = heap.node(edge.caller).method;
                if !seen.insert(edge.caller) || !self.is_near(self.classes.method(caller).class) {
                    continue;
                }
                if can_be_called(caller) {
                    found.insert(self.classes.describe_method(caller), caller);
                } else {
                    callers.push(edge.caller);
                }
            }
            next = callers;
        }
        found.into_values().collect()
    }

    /// A class whose objects have the method: that which declares it, else one below.
    fn made_for(&self, method: MethodId, made: &[ClassId]) -> Option<ClassId> {
        let home = self.classes.method(method).class;
        let is_static = self.classes.method(method).flags.is_static();
        let has = |class: &ClassId| {
            *class == home
                || !is_static
                    && self.classes.is_subtype(*class, home)
                    && self.classes.select(*class, method) == Some(method)
        };
        let order = |class: &ClassId| {
            let flags = self.classes.class(*class).flags;
            let is_hidden = !self.is_nameable(*class);
            (flags.is_abstract() && !is_static, is_hidden, *class != home)
        };
        made.iter().copied().filter(has).min_by_key(order)
    }

    /// Public methods of a class's objects whose code is in the input, or in a class above that is the platform's.
    fn public_methods(&self, class: ClassId) -> Vec<MethodId> {
        let mut all = BTreeMap::new();
        for home in std::iter::once(class).chain(self.classes.superclasses(class)) {
            if !self.program.is_input(home) {
                continue;
            }
            for &method in &self.classes.class(home).methods {
                let name = (
                    self.classes.method_name(method),
                    self.classes.method_descriptor(method),
                );
                if self.is_callable(method) {
                    all.entry(name).or_insert(method);
                }
            }
        }
        all.into_values().collect()
    }

    /// What a method accesses, as far as the call graph leads through the input and the classes above it.
    fn accesses(&self, method: MethodId) -> Accesses {
        if let Some(known) = self.accesses.borrow().get(&method) {
            return known.clone();
        }
        let heap = self.program.heap();
        let mut accesses = Accesses::default();
        let mut seen: HashSet<MethodId> = HashSet::from([method]);
        let mut next = vec![method];
        while let Some(method) = next.pop() {
            if let Some(body) = self.program.body(method) {
                for (_, instr) in body.all_instrs() {
                    match instr.op {
                        Op::GetField { field, .. } | Op::GetStatic { field } => {
                            accesses.read.insert(field);
                        }
                        Op::PutField { field, .. } | Op::PutStatic { field, .. } => {
                            accesses.written.insert(field);
                        }
                        Op::Invoke { method, .. } => {
                            accesses.asks_locks |=
                                ASKING.contains(&self.classes.method_name(method));
                        }
                        _ => {}
                    }
                }
            }
            for edge in (heap.nodes_of(method).iter()).flat_map(|node| heap.calls_from(*node)) {
                let callee = heap.node(edge.callee).method;
                let home = self.classes.method(callee).class;
                if self.is_near(home) && seen.insert(callee) {
                    next.push(callee);
                }
            }
        }
        accesses.read.retain(|field| self.is_shared(*field));
        self.accesses.borrow_mut().insert(method, accesses.clone());
        accesses
    }

    /// Whether a method takes an object of its own class, which it can hardly lock together with its own.
    fn takes_its_own(&self, class: ClassId, method: MethodId) -> bool {
        let descriptor = self.classes.method_descriptor(method);
        let arguments = descriptor.split(')').next().unwrap_or_default();
        arguments.contains(&format!("L{};", self.classes.class_name(class)))
    }

    /// Whether a class is of the input, or above one.
    fn is_near(&self, class: ClassId) -> bool {
        self.program.is_input(class)
            || (self.program.inputs().iter()).any(|input| self.classes.is_subtype(*input, class))
                && !matches!(self.classes.class_name(class), "java/lang/Object")
    }

    /// Whether reading a field says something of what others do: it may be written, or holds an object that may.
    fn is_shared(&self, field: FieldId) -> bool {
        let field = self.classes.field(field);
        let of = field.ty.class().map(|class| self.classes.class_name(class));
        !field.flags.is_final() || field.ty.is_reference() && of != Some("java/lang/String")
    }

    /// The methods that access what a method accesses, those that surely write it first.
    fn partners(&self, class: ClassId, torn: MethodId) -> Vec<MethodId> {
        let own = self.accesses(torn);
        if own.asks_locks {
            return Vec::new();
        }
        let mut ranked = Vec::new();
        for by in self.public_methods(class) {
            let other = self.accesses(by);
            let touched = |field: &FieldId| own.read.contains(field) || own.written.contains(field);
            let writes = other.written.iter().filter(|field| touched(field)).count();
            let reads_written = other.read.intersection(&own.written).count();
            let holds = |field: &&FieldId| {
                let ty = self.classes.field(**field).ty;
                ty.is_reference() && touched(field)
            };
            let held = other.read.iter().filter(holds).count();
            if writes + reads_written + held == 0 || other.asks_locks {
                continue;
            }
            // A method that returns nothing changes something.
            let it = self.classes.method(by);
            let changes = it.returns.is_none() || writes > 0;
            let name = self.classes.describe_method(by);
            // Simple calls hit more often: few arguments, and those that end a state rather than those that build one.
            // Clients often have all their threads do the same.
            let ends = by == torn && changes
                || (ENDING.iter()).any(|end| is_named(self.classes.method_name(by), end));
            let arguments = it.params.len();
            ranked.push((writes == 0 && !ends, !changes, !ends, arguments, name, by));
        }
        ranked.sort();
        ranked.truncate(PARTNERS);
        ranked.into_iter().map(|(.., by)| by).collect()
    }

    fn pair(&self, class: ClassId, torn: MethodId, by: MethodId, finding: Option<usize>) -> Pair {
        let named = |method| {
            (
                self.classes.method_name(method).to_owned(),
                self.classes.method_descriptor(method).to_owned(),
            )
        };
        Pair {
            class: dotted(self.classes.class_name(class)),
            torn: named(torn),
            by: named(by),
            declared_by: dotted(self.classes.class_name(self.classes.method(torn).class)),
            finding,
        }
    }
}

/// Whether a name is this word, or begins with it.
fn is_named(name: &str, word: &str) -> bool {
    name.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}
