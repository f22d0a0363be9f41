//! Where execution starts: a main method, or every exported method of a library.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Var;
use super::objects::{Context, ObjectKind};
use super::result::{HeapField, Root, RootKind};
use super::set::ObjectSet;
use super::solver::Solver;
use crate::classes::{ClassKind, Type};
use crate::ids::{ClassId, MethodId, ObjectId};

/// What runs first.
#[derive(Debug, Clone)]
pub enum Entry {
    /// An application's main method.
    Main(MethodId),
    /// Clients of a library: any number of threads call any exported method of these classes on one shared instance each.
    Clients(Vec<ClassId>),
}

/// What clients of a library share and pass.
#[derive(Debug, Default)]
struct Instances {
    /// By each class and interface those that are of it.
    fitting: FxHashMap<ClassId, ObjectSet>,
    /// Another one of some class.
    other: Option<(ClassId, ObjectId)>,
    /// One that is not passed.
    except: Option<ObjectId>,
}

impl Solver<'_> {
    /// Makes the entry reachable.
    pub fn enter(&mut self, entry: &Entry) {
        self.is_application = matches!(entry, Entry::Main(_));
        match entry {
            Entry::Main(method) => self.enter_main(*method),
            Entry::Clients(classes) => self.enter_library(classes),
        }
    }

    fn enter_main(&mut self, method: MethodId) {
        let info = self.classes().method(method);
        let (class, has_receiver, takes_arguments) =
            (info.class, !info.flags.is_static(), !info.params.is_empty());
        self.initialize(class);
        let node = self.node(method, Context::None);
        self.roots.push(Root {
            node,
            kind: RootKind::Main,
        });
        let params = self.nodes[node.index()].params;
        if has_receiver {
            let receiver = self.object(class, ObjectKind::Instance, Context::None);
            self.graph.add_object(params, receiver);
        }
        if takes_arguments {
            let array = self.loader.class_named("[Ljava/lang/String;");
            let array = self.object(array, ObjectKind::Arguments, Context::None);
            let string = self.classes().well_known.string;
            let string = self.object(string, ObjectKind::Merged, Context::None);
            let elements = self.field_var(array, HeapField::Elements);
            self.graph.add_object(elements, string);
            self.graph
                .add_object(Var(params.0 + u32::from(has_receiver)), array);
        }
    }

    fn enter_library(&mut self, classes: &[ClassId]) {
        let mut instances: Vec<(ClassId, ObjectId)> = Vec::new();
        let mut shared = Instances::default();
        for class in classes {
            if self.has_instance(*class, classes) {
                let object = self.object(*class, ObjectKind::Instance, Context::None);
                instances.push((*class, object));
                for above in self.classes().supertypes(*class) {
                    shared.fitting.entry(*above).or_default().insert(object);
                }
            }
        }
        let all: FxHashSet<ClassId> = classes.iter().copied().collect();
        for class in classes {
            self.initialize(*class);
            for method in self.classes().class(*class).methods.clone() {
                let info = self.classes().method(method);
                let callable = info.has_code && self.classes().is_exported(method);
                if info.flags.is_static() && callable && self.classes().class(*class).nameable {
                    self.enter_method(method, None, &shared);
                }
            }
        }
        for (class, instance) in &instances {
            let constructors: Vec<MethodId> =
                self.classes().methods_named(*class, "<init>").collect();
            // An object cannot be passed to its own constructor, and a wrapper does not wrap itself: that is another instance.
            if self.takes_own_kind(*class, &constructors) {
                let other = self.object(*class, ObjectKind::Passed, Context::None);
                for constructor in &constructors {
                    self.enter_method(*constructor, Some(other), &Instances::default());
                }
                shared.other = Some((*class, other));
            }
            shared.except = Some(*instance);
            for constructor in constructors {
                self.enter_method(constructor, Some(*instance), &shared);
            }
            shared.except = None;
            if self.classes().class(*class).nameable {
                for method in self.callable_methods(*class, &all) {
                    self.enter_method(method, Some(*instance), &shared);
                }
            }
            shared.other = None;
        }
        self.enter_completed(classes, &all, &shared);
    }

    /// Clients implement interfaces and complete what is abstract: what these inherit then runs for objects of theirs, though it may run for none of the analyzed classes.
    fn enter_completed(
        &mut self,
        classes: &[ClassId],
        all: &FxHashSet<ClassId>,
        shared: &Instances,
    ) {
        let mut entered: FxHashSet<MethodId> = (self.roots.iter())
            .map(|root| self.nodes[root.node.index()].method)
            .collect();
        for class in classes {
            let info = self.classes().class(*class);
            let completed = info.flags.is_abstract() || info.flags.is_interface();
            if !completed || !info.nameable {
                continue;
            }
            for method in self.callable_methods(*class, all) {
                if entered.insert(method) {
                    let object = self.object(*class, ObjectKind::Passed, Context::None);
                    self.enter_method(method, Some(object), shared);
                }
            }
        }
    }

    /// Whether a constructor of a class takes what may be another instance of it.
    fn takes_own_kind(&self, class: ClassId, constructors: &[MethodId]) -> bool {
        let tables = self.classes();
        (constructors.iter())
            .flat_map(|constructor| &tables.method(*constructor).params)
            .filter_map(|ty| ty.class())
            .any(|of| of != tables.well_known.object && tables.is_subtype(class, of))
    }

    /// Interfaces have no instances; an abstract class has one if no analyzed class extends it.
    fn has_instance(&self, class: ClassId, all: &[ClassId]) -> bool {
        let tables = self.classes();
        let flags = tables.class(class).flags;
        if flags.is_interface() || !tables.class(class).nameable {
            return false;
        }
        !flags.is_abstract()
            || !all
                .iter()
                .any(|other| *other != class && tables.is_subtype(*other, class))
    }

    /// The exported instance methods of a class, those inherited from analyzed classes included.
    fn callable_methods(&self, class: ClassId, all: &FxHashSet<ClassId>) -> Vec<MethodId> {
        let tables = self.classes();
        let mut methods = Vec::new();
        for above in tables.supertypes(class) {
            if !all.contains(above) && *above != class {
                continue;
            }
            for method in &tables.class(*above).methods {
                let info = tables.method(*method);
                if info.flags.is_static()
                    || !tables.is_exported(*method)
                    || tables.is_constructor(*method)
                {
                    continue;
                }
                let selected = tables.select(class, *method);
                methods.extend(selected.filter(|selected| tables.method(*selected).has_code));
            }
        }
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    fn enter_method(
        &mut self,
        method: MethodId,
        receiver: Option<ObjectId>,
        instances: &Instances,
    ) {
        let class = self.classes().method(method).class;
        let context = match receiver {
            Some(object) if self.is_container(class) => {
                self.affordable(class, Context::Object(object))
            }
            _ => Context::None,
        };
        let node = self.node(method, context);
        let constructor = self.classes().is_constructor(method);
        let kind = if constructor {
            RootKind::Constructor
        } else {
            RootKind::Client
        };
        self.roots.push(Root { node, kind });
        if kind == RootKind::Client {
            self.unknown.called_by_clients.insert(node);
        }
        let params = self.nodes[node.index()].params;
        let offset = u32::from(receiver.is_some());
        if let Some(object) = receiver {
            self.graph.add_object(params, object);
        }
        for (position, ty) in self
            .classes()
            .method(method)
            .params
            .clone()
            .iter()
            .enumerate()
        {
            if let Type::Ref(class) = ty {
                let var = Var(params.0 + offset + position as u32);
                self.pass_anything(var, *class, instances);
            }
        }
    }

    /// What a client may pass for a type: the shared instances that fit, and something unknown.
    fn pass_anything(&mut self, var: Var, class: ClassId, instances: &Instances) {
        let unknown = self.object(class, ObjectKind::Passed, Context::None);
        self.graph.add_object(var, unknown);
        if let ClassKind::Array(Some(component)) = self.classes().class(class).kind {
            let elements = self.field_var(unknown, HeapField::Elements);
            if self.graph.objects(elements).is_empty() {
                self.pass_anything(elements, component, instances);
            }
        }
        // Anything at all is an Object: that says nothing of which instance is meant.
        if class == self.classes().well_known.object {
            return;
        }
        if let Some((of, other)) = instances.other
            && self.classes().is_subtype(of, class)
        {
            self.graph.add_object(var, other);
        }
        if let Some(fitting) = instances.fitting.get(&class) {
            match instances.except.filter(|except| fitting.contains(*except)) {
                Some(except) => {
                    let others = fitting.difference(&ObjectSet::of(except));
                    self.graph.add_objects(var, &others);
                }
                None => self.graph.add_objects(var, fitting),
            }
        }
    }
}
