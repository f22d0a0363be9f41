//! Ghost parameters: which lock each object with ghosts was given for them.
//!
//! A class with ghosts is a family of types, `C⟨l⟩` for every lock expression `l`.
//! Fields, parameters, results, `new` and `extends` say which member of the family they mean; where they do not say, the guard solver chooses (a slot).
//! Values get their arguments from where they come from (`values`), and wherever one flows into a type of the family, both must agree (`flows`).
//!
//! Guaranteed: an object keeps the arguments it was made with.
//! What goes where ghosts are not known (arrays, collections, library code, strangers) must have `none`, and what comes from there has `none`.

mod flows;
mod values;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::ir::Op;
use untorn_program::{ClassId, FieldId, InstrId, MethodId, ValueId};

use super::Translator;
use crate::algebra::Algebra;
use crate::annotations::{
    AnnotationError, DeclaredGhosts, Finals, GhostArguments, GhostNames, Scope, Subject,
};
use crate::input::{self, Actuals, Allocation, Arg, Class, Flow, Slot, SlotId};
use crate::locks::{Lock, Locks, Root};
use crate::notation::parse_lock;

/// What is known of ghosts.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub names: GhostNames,
    ids: FxHashMap<ClassId, input::ClassId>,
    protecting: FxHashSet<ClassId>,
    supers: FxHashMap<(ClassId, ClassId), Vec<Lock>>,
    fields: FxHashMap<FieldId, Vec<Arg>>,
    params: FxHashMap<(MethodId, usize), Vec<Arg>>,
    results: FxHashMap<MethodId, Vec<Arg>>,
    news: FxHashMap<(MethodId, InstrId), Vec<Arg>>,
    calls: FxHashMap<(MethodId, InstrId), Vec<Arg>>,
    values: FxHashMap<(MethodId, ValueId), Vec<Arg>>,
    /// Methods whose parameters and results strangers provide, or take, unless they are declared.
    declared_types: FxHashSet<(MethodId, Option<usize>)>,
    pub slots: Vec<Slot>,
    pub flows: Vec<Flow>,
    pub allocations: Vec<Allocation>,
}

impl Declared {
    /// Nothing has ghosts.
    pub fn is_empty(&self) -> bool {
        self.names.classes.is_empty() && self.names.methods.is_empty()
    }

    pub fn of_class(&self, class: ClassId) -> &[(String, crate::locks::Ghost)] {
        self.names.classes.get(&class).map_or(&[], Vec::as_slice)
    }

    fn of_method(&self, method: MethodId) -> &[(String, crate::locks::Ghost)] {
        self.names.methods.get(&method).map_or(&[], Vec::as_slice)
    }

    /// The class in the input; all classes without ghosts are one.
    pub fn class_id(&self, class: ClassId) -> input::ClassId {
        self.ids.get(&class).copied().unwrap_or(input::ClassId(0))
    }

    /// The classes of the input.
    pub fn classes(&self) -> Vec<Class> {
        let mut classes = vec![Class::default(); self.ids.len() + 1];
        for (class, id) in &self.ids {
            let ghosts: Vec<_> = self.of_class(*class).iter().map(|(_, g)| *g).collect();
            let first = ghosts.first().copied();
            classes[id.index()] = Class {
                protecting: first.filter(|_| self.protecting.contains(class)),
                ghosts,
            };
        }
        classes
    }

    fn slot(&mut self, candidates: Vec<Lock>, protecting: bool) -> Arg {
        let id = SlotId(self.slots.len() as u32);
        self.slots.push(Slot {
            candidates,
            protecting,
        });
        Arg::Slot(id)
    }

    /// One argument for each ghost of a class, to be chosen.
    fn open(&mut self, class: ClassId, candidates: &[Lock]) -> Vec<Arg> {
        let protecting = self.protecting.contains(&class);
        (0..self.of_class(class).len())
            .map(|at| self.slot(candidates.to_vec(), protecting && at == 0))
            .collect()
    }
}

/// `none` for each ghost.
fn none(count: usize) -> Vec<Arg> {
    vec![Arg::Lock(Locks::NONE); count]
}

impl Translator<'_, '_> {
    /// Reads what is declared of ghosts; everything else about them follows from the code.
    pub(super) fn declare_ghosts(
        &mut self,
        declared: &DeclaredGhosts<'_>,
        parameter_names: &dyn Fn(MethodId) -> Vec<String>,
    ) -> Result<(), AnnotationError> {
        let mut classes: Vec<_> = declared.classes.iter().collect();
        classes.sort_unstable_by_key(|(class, _)| **class);
        for (class, ghosts) in classes {
            let names = ghosts.names.iter();
            let named = names.map(|name| (name.clone(), self.locks.ghost(name)));
            let named = named.collect();
            self.declared.names.classes.insert(*class, named);
            let id = input::ClassId(self.declared.ids.len() as u32 + 1);
            self.declared.ids.insert(*class, id);
            if ghosts.protecting {
                self.declared.protecting.insert(*class);
            }
        }
        let mut methods: Vec<_> = declared.methods.iter().collect();
        methods.sort_unstable_by_key(|(method, _)| **method);
        for (method, names) in methods {
            let named = names
                .iter()
                .map(|name| (name.clone(), self.locks.ghost(name)));
            let named = named.collect();
            self.declared.names.methods.insert(*method, named);
        }
        for arguments in &declared.arguments {
            self.declare_arguments(arguments, parameter_names)?;
        }
        Ok(())
    }

    fn declare_arguments(
        &mut self,
        given: &GhostArguments<'_>,
        parameter_names: &dyn Fn(MethodId) -> Vec<String>,
    ) -> Result<(), AnnotationError> {
        let classes = self.world.table();
        let wrong = |problem: &str| Err(given.misplaced(problem));
        match given.of {
            Subject::FieldType(field) => {
                let info = classes.field(*field);
                let locks = self.class_locks(given, info.class, info.flags.is_static())?;
                let locks = self.counted(given, info.ty.class(), locks)?;
                self.declared.fields.insert(*field, locks);
            }
            Subject::ParameterType(method, number) => {
                let Some(ty) = classes.method(*method).params.get(*number as usize) else {
                    return wrong("there is no such parameter");
                };
                let locks = self.method_locks(given, *method, parameter_names)?;
                let locks = self.counted(given, ty.class(), locks)?;
                let number = *number as usize;
                self.declared.params.insert((*method, number), locks);
                self.declared.declared_types.insert((*method, Some(number)));
            }
            Subject::ResultType(method) => {
                let ty = classes.method(*method).returns;
                let locks = self.method_locks(given, *method, parameter_names)?;
                let locks = self.counted(given, ty.and_then(|ty| ty.class()), locks)?;
                self.declared.results.insert(*method, locks);
                self.declared.declared_types.insert((*method, None));
            }
            Subject::Supertype(class, name) => {
                let info = classes.class(*class);
                let above = (info.superclass.iter().chain(&info.interfaces).copied())
                    .find(|&above| is_named(classes.class_name(above), name));
                let Some(above) = above else {
                    return wrong("there is no such supertype");
                };
                let locks = self.class_locks(given, *class, false)?;
                self.counted(given, Some(above), locks.clone())?;
                self.declared.supers.insert((*class, above), locks);
            }
            Subject::New(method, name, line) => {
                let found = self.instrs(*method, *line, |op| match op {
                    Op::New { class } => is_named(classes.class_name(*class), name),
                    _ => false,
                });
                if found.len() > 1 {
                    return wrong("several such objects are made on this line");
                }
                for instr in found {
                    let Some(Op::New { class }) =
                        self.world.body(*method).map(|b| &b.instr(instr).op)
                    else {
                        continue;
                    };
                    let locks = self.method_locks(given, *method, parameter_names)?;
                    let locks = self.counted(given, Some(*class), locks)?;
                    self.declared.news.insert((*method, instr), locks);
                }
            }
            Subject::Call(method, name, line) => {
                let found = self.instrs(*method, *line, |op| match op {
                    Op::Invoke { method, .. } => classes.method_name(*method) == name,
                    _ => false,
                });
                if found.len() > 1 {
                    return wrong("several such methods are called on this line");
                }
                for instr in found {
                    let locks = self.method_locks(given, *method, parameter_names)?;
                    let locks = locks.into_iter().map(Arg::Lock).collect();
                    self.declared.calls.insert((*method, instr), locks);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn instrs(&self, method: MethodId, line: u32, fits: impl Fn(&Op) -> bool) -> Vec<InstrId> {
        let body = self.world.body(method);
        (body.into_iter().flat_map(|body| body.all_instrs()))
            .filter(|(_, instr)| u32::from(instr.line) == line && fits(&instr.op))
            .map(|(id, _)| id)
            .collect()
    }

    fn counted(
        &self,
        given: &GhostArguments<'_>,
        class: Option<ClassId>,
        locks: Vec<Lock>,
    ) -> Result<Vec<Arg>, AnnotationError> {
        let wanted = class.map_or(0, |class| self.declared.of_class(class).len());
        if wanted != locks.len() {
            let problem = format!(
                "the type has {wanted} ghosts, and {} are given",
                locks.len()
            );
            return Err(given.misplaced(problem));
        }
        Ok(locks.into_iter().map(Arg::Lock).collect())
    }

    fn class_locks(
        &mut self,
        given: &GhostArguments<'_>,
        class: ClassId,
        is_static: bool,
    ) -> Result<Vec<Lock>, AnnotationError> {
        let finals = self.finals();
        let classes = self.world.table();
        let scope = Scope::of_class(classes, &finals, class, is_static)
            .with_ghosts(&self.declared.names, None);
        self.parse_locks(given, &scope)
    }

    fn method_locks(
        &mut self,
        given: &GhostArguments<'_>,
        method: MethodId,
        parameter_names: &dyn Fn(MethodId) -> Vec<String>,
    ) -> Result<Vec<Lock>, AnnotationError> {
        let finals = self.finals();
        let names = parameter_names(method);
        let scope = Scope::of_method(self.world.table(), &finals, method, &names)
            .with_ghosts(&self.declared.names, Some(method));
        self.parse_locks(given, &scope)
    }

    fn parse_locks(
        &mut self,
        given: &GhostArguments<'_>,
        scope: &Scope<'_>,
    ) -> Result<Vec<Lock>, AnnotationError> {
        // The parser wants an algebra, of which it only needs the locks.
        let mut algebra = Algebra::new(std::mem::take(&mut self.locks));
        let parsed: Result<Vec<Lock>, _> = (given.locks.iter())
            .map(|piece| {
                parse_lock(&mut algebra, scope, &piece.text).map_err(|mut error| {
                    error.offset += piece.offset;
                    given.malformed(error)
                })
            })
            .collect();
        self.locks = algebra.locks;
        parsed
    }

    fn finals(&self) -> Finals {
        let classes = self.world.table();
        let fields = (classes.class_ids()).flat_map(|class| &classes.class(class).fields);
        Finals::new(fields.map(|&field| (field, self.facts.is_final(&self.world, field))))
    }

    /// The ghosts that the types of a method may mention.
    pub(super) fn ghosts_in_scope(&self, method: MethodId) -> Vec<crate::locks::Ghost> {
        let info = self.world.table().method(method);
        let of_class = (!info.flags.is_static()).then(|| self.declared.of_class(info.class));
        let own = of_class.into_iter().flatten();
        own.chain(self.declared.of_method(method))
            .map(|(_, ghost)| *ghost)
            .collect()
    }

    /// Locks that a type in a method may be given.
    fn locks_in_scope(&mut self, method: MethodId) -> Vec<Lock> {
        let info = self.world.table().method(method);
        let mut found = Vec::new();
        for ghost in self.ghosts_in_scope(method) {
            found.push(self.locks.root(Root::Ghost(ghost)));
        }
        if !info.flags.is_static() {
            found.push(Locks::THIS);
        }
        for (index, ty) in info.params.iter().enumerate() {
            if ty.is_reference() {
                found.push(self.locks.root(Root::Param(index as u16)));
            }
        }
        found
    }

    /// The ghosts of a class as locks.
    pub(super) fn ghost_locks(&mut self, class: ClassId) -> Vec<Lock> {
        let ghosts: Vec<_> = self
            .declared
            .of_class(class)
            .iter()
            .map(|(_, g)| *g)
            .collect();
        (ghosts.into_iter())
            .map(|ghost| self.locks.root(Root::Ghost(ghost)))
            .collect()
    }

    /// The arguments for the ghosts of a supertype, in terms of the class.
    pub(super) fn supertype_args(&mut self, class: ClassId, above: ClassId) -> Vec<Arg> {
        let count = self.declared.of_class(above).len();
        if count == 0 {
            return Vec::new();
        }
        if class == above {
            return self.ghost_locks(class).into_iter().map(Arg::Lock).collect();
        }
        let classes = self.world.table();
        let info = classes.class(class);
        let direct: Vec<ClassId> = (info.superclass.iter().chain(&info.interfaces).copied())
            .filter(|&direct| classes.is_subtype(direct, above))
            .collect();
        for next in direct {
            let given = self.declared.supers.get(&(class, next)).cloned();
            let given = given
                .map(|locks| locks.into_iter().map(Arg::Lock).collect())
                .unwrap_or_else(|| none(self.declared.of_class(next).len()));
            let args = self.supertype_args(next, above);
            let mut actuals = vec![(Root::This, Arg::Lock(Locks::THIS))];
            let ghosts: Vec<_> = self
                .declared
                .of_class(next)
                .iter()
                .map(|(_, g)| *g)
                .collect();
            actuals.extend(ghosts.into_iter().map(Root::Ghost).zip(given));
            let actuals = Actuals(actuals);
            return (args.into_iter())
                .map(|arg| self.substituted(arg, &actuals, &[]))
                .collect();
        }
        none(count)
    }

    /// An argument of another scope in this one; a new slot if it depends on one.
    fn substituted(&mut self, arg: Arg, actuals: &Actuals, candidates: &[Lock]) -> Arg {
        let Arg::Lock(lock) = arg else {
            if arg == Arg::Unknown {
                return Arg::Lock(Locks::NONE);
            }
            return self.flowing(arg, actuals, candidates);
        };
        let root = self.locks.root_of(lock);
        let actual = actuals.0.iter().find(|(known, _)| *known == root);
        match actual.map(|(_, actual)| *actual) {
            Some(actual @ Arg::Slot(_)) if self.locks.root(root) == lock => actual,
            Some(Arg::Slot(_)) => self.flowing(arg, actuals, candidates),
            _ => match actuals.substitution(&[]).apply(&mut self.locks, lock) {
                Some(lock) => Arg::Lock(lock),
                // A lock without a name here.
                None => Arg::Lock(Locks::NONE),
            },
        }
    }

    fn flowing(&mut self, from: Arg, actuals: &Actuals, candidates: &[Lock]) -> Arg {
        let to = self.declared.slot(candidates.to_vec(), false);
        self.declared.flows.push(Flow {
            from,
            actuals: actuals.clone(),
            to,
        });
        to
    }
}

/// Whether a class is called by this name, qualified or not.
fn is_named(internal: &str, written: &str) -> bool {
    let plain = written.split('<').next().unwrap_or(written).trim();
    let simple = plain.rsplit('.').next().unwrap_or(plain);
    internal.rsplit(['/', '$']).next() == Some(simple)
}
