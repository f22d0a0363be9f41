//! How precise the analysis is where, by what that costs: precision falls before time does.
//!
//! *Contexts.* Smaragdakis, Kastrinis and Balatsouras, "Introspective Analysis: Context-Sensitivity, Across the Board" (PLDI 2014) find by a first cheap run which methods would cost too much in contexts.
//! Here the one run keeps books: each class has an allowance of instructions in contexts, and when it or that of the whole program is spent, all further receivers are analyzed together.
//! *Fields.* A field that is accessed through large sets is one variable for all objects once these accesses have become many.
//!
//! *Objects.* What libraries of the program make for themselves is one object for each class.
//! If all this takes more steps than a program of its size is worth, the analysis begins anew with one object for each class ([`Detail::Classes`]): then sets are no larger than the number of classes, no method has a context, and every field is one variable for all objects.
//!
//! All of this only merges what is kept apart elsewhere, so the result stays an over-approximation.

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::Var;
use super::objects::{Context, ObjectKind};
use super::result::HeapField;
use super::solver::Solver;
use crate::classes::ClassKind;
use crate::ids::{ClassId, FieldId, MethodId, ObjectId};
use crate::load::Origin;

/// What methods of one class may cost in contexts, in instructions: so much in any program, and this share of the program.
const OWN: Allowance = Allowance(8_000, 16);
/// The same for classes of libraries: what these contain is what contexts are for.
const LIBRARY: Allowance = Allowance(40_000, 4);
/// The same for all classes together.
const ALL: Allowance = Allowance(100_000, 1);
/// How many copies to and from a field of single objects are made before the field is one for all objects.
const FIELD_COPIES: u32 = 5_000;

/// What a node costs beside its instructions.
const NODE: usize = 20;
/// How many steps, each an object or a word of a set that is moved, are worth telling objects apart: so many in any program, and so many for each instruction.
const STEPS: (u64, u64) = (6_000_000, 20);
/// And never more than so many: what a large program reaches by then without an end, it does not reach with twice as many.
const MOST_STEPS: u64 = 10_000_000;
/// How often the clock is looked at: once in so many variables.
const SELDOM: u64 = 1024;
/// How many objects of a library class that is not entered are told apart where all others are not.
const FEW: u32 = 64;

/// Where precision was given up.
#[derive(Debug, Clone, Default)]
pub struct GivenUp {
    /// Whether objects are told apart by their class alone.
    pub by_class: bool,
    /// Classes whose methods were analyzed for several receivers together, though they are such that telling these apart says more.
    pub classes: Vec<ClassId>,
    /// How many fields are one for all objects.
    pub fields: usize,
}

/// What is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Objects by where they are made, in contexts.
    #[default]
    Sites,
    /// Objects by their class alone.
    Classes,
}

struct Allowance(usize, usize);

impl Allowance {
    fn of(&self, program: usize) -> usize {
        self.0 + program / self.1
    }
}

/// What was spent so far, and what was given up.
#[derive(Debug, Default)]
pub struct Precision {
    /// Instructions of the analyzed classes.
    pub program: usize,
    /// Instructions of nodes in contexts, of all classes and of each.
    spent: usize,
    spent_on: FxHashMap<ClassId, usize>,
    contexts: FxHashSet<(ClassId, Context)>,
    /// Classes of which receivers were analyzed together.
    together: FxHashSet<ClassId>,
    copies: FxHashMap<FieldId, u32>,
    owners: FxHashMap<FieldId, Vec<ObjectId>>,
    /// Fields that are one variable for all objects.
    pub one_for_all: FxHashMap<FieldId, Var>,
    pub detail: Detail,
    /// When to stop telling objects apart.
    pub hurry: Option<Instant>,
    asked: u64,
    /// Objects that uses were applied to.
    pub work: u64,
    /// How many objects of library classes were told apart.
    of_class: FxHashMap<ClassId, u32>,
    told_apart: FxHashSet<(ClassId, ObjectKind)>,
    instances: FxHashSet<ClassId>,
}

impl Precision {
    /// Nothing is spent yet.
    pub fn new(detail: Detail) -> Self {
        Self {
            detail,
            ..Self::default()
        }
    }

    /// A method of this many instructions is analyzed in a context.
    pub fn spend(&mut self, class: ClassId, instrs: usize) {
        self.spent += NODE + instrs;
        *self.spent_on.entry(class).or_default() += NODE + instrs;
    }

    /// Whether telling objects apart has taken too long, given the words that were propagated.
    pub fn is_exhausted(&mut self, propagated: u64) -> bool {
        let (some, each) = STEPS;
        self.asked += 1;
        let late = |until: Instant| self.asked.is_multiple_of(SELDOM) && Instant::now() > until;
        self.detail == Detail::Sites
            && (self.work + propagated > MOST_STEPS.min(some + each * self.program as u64)
                || self.hurry.is_some_and(late))
    }

    /// The classes of which receivers were analyzed together, and how many fields are one for all objects.
    pub fn given_up(&self) -> GivenUp {
        let mut classes: Vec<ClassId> = self.together.iter().copied().collect();
        classes.sort_unstable();
        GivenUp {
            by_class: self.detail == Detail::Classes,
            classes,
            fields: self.one_for_all.len(),
        }
    }

    fn can_afford(&self, class: ClassId, own: bool) -> bool {
        if self.detail == Detail::Classes {
            return false;
        }
        let of_class = if own { OWN } else { LIBRARY };
        let spent = self.spent_on.get(&class).copied().unwrap_or(0);
        spent < of_class.of(self.program) && self.spent < ALL.of(self.program)
    }
}

impl Solver<'_> {
    /// The context itself, or none if methods of this class have too many.
    pub(super) fn affordable(&mut self, class: ClassId, context: Context) -> Context {
        if self.precision.contexts.contains(&(class, context)) {
            return context;
        }
        let own = self.classes().class(class).origin == Origin::Input;
        if !self.precision.can_afford(class, own) {
            self.precision.together.insert(class);
            return Context::None;
        }
        self.precision.contexts.insert((class, context));
        context
    }

    fn origin_of(&self, method: MethodId) -> Origin {
        let class = self.classes().method(method).class;
        self.classes().class(class).origin
    }

    /// How an object is told from others of its class.
    pub(super) fn told_apart(
        &mut self,
        class: ClassId,
        kind: ObjectKind,
        context: Context,
    ) -> (ObjectKind, Context) {
        if self.precision.detail == Detail::Sites {
            return match kind {
                // What a library of the program makes for itself.
                ObjectKind::Allocated { method, .. }
                    if self.origin_of(method) == Origin::ClassPath =>
                {
                    (ObjectKind::AnyOf, Context::None)
                }
                _ => (kind, context),
            };
        }
        if kind == ObjectKind::Instance {
            self.precision.instances.insert(class);
        }
        if !matches!(kind, ObjectKind::Allocated { .. }) {
            return (kind, Context::None);
        }
        if self.precision.instances.contains(&class) {
            return (ObjectKind::Instance, Context::None);
        }
        // Locks, atomic variables and concurrent collections hold little by themselves and say much.
        let array = matches!(self.classes().class(class).kind, ClassKind::Array(_));
        if array || self.is_entered(class) {
            return (ObjectKind::AnyOf, Context::None);
        }
        let precision = &mut self.precision;
        if !precision.told_apart.contains(&(class, kind)) {
            let count = precision.of_class.entry(class).or_default();
            if *count >= FEW {
                return (ObjectKind::AnyOf, Context::None);
            }
            *count += 1;
            precision.told_apart.insert((class, kind));
        }
        (kind, Context::None)
    }

    /// The variable of a field, if it is one for all objects.
    pub(super) fn common_field(&mut self, field: HeapField) -> Option<Var> {
        let HeapField::Field(field) = field else {
            return None;
        };
        let known = self.precision.one_for_all.get(&field).copied();
        if known.is_some() || self.precision.detail == Detail::Sites {
            return known;
        }
        let common = self.graph.variables(1);
        self.precision.one_for_all.insert(field, common);
        Some(common)
    }

    /// The fields of objects of a class that are one variable for all objects.
    pub(super) fn common_parts(&self, class: ClassId) -> Vec<(HeapField, Var)> {
        let tables = self.classes();
        (tables.superclasses(class))
            .flat_map(|above| &tables.class(above).fields)
            .filter_map(|field| {
                let var = self.precision.one_for_all.get(field)?;
                Some((HeapField::Field(*field), *var))
            })
            .collect()
    }

    /// Gives every object its variable of the fields that are one for all.
    pub(super) fn add_common_parts(&mut self) {
        let mut parts: FxHashMap<ClassId, Vec<(HeapField, Var)>> = FxHashMap::default();
        for index in 0..self.objects.len() {
            let object = ObjectId::new(index);
            let class = self.objects.get(object).class;
            let of_class = (parts.entry(class)).or_insert_with(|| self.common_parts(class));
            for (field, var) in of_class {
                self.fields.insert((object, *field), *var);
            }
        }
    }

    /// An object has a variable for a field from now on.
    pub(super) fn has_field(&mut self, object: ObjectId, field: HeapField) {
        if let HeapField::Field(field) = field {
            self.precision.owners.entry(field).or_default().push(object);
        }
    }

    /// A value is copied from or to a field of one object.
    pub(super) fn count_copy(&mut self, field: HeapField) {
        let HeapField::Field(field) = field else {
            return;
        };
        let copies = self.precision.copies.entry(field).or_default();
        *copies += 1;
        if *copies == FIELD_COPIES {
            let owners = self.precision.owners.remove(&field).unwrap_or_default();
            let vars: Vec<Var> = (owners.iter())
                .filter_map(|object| self.fields.get(&(*object, HeapField::Field(field))))
                .copied()
                .collect();
            let common = self.graph.variables(1);
            self.graph.unify(common, &vars);
            self.precision.one_for_all.insert(field, common);
        }
    }
}
