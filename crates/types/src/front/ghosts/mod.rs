//! Ghost parameters of classes and methods, from bytecode (sections 4, 7.3 and 7.4 of *Types for Atomicity*).
//!
//! Classes that are related by inheritance form a family, and every object of a family has one ghost argument: the lock that owns it.
//! It may guard the object's fields, and it protects the object's own lock.
//! Where a reference of a family's type flows, both sides must agree on the argument, after substitution: fields, parameters, results, branches, array elements.
//! A parameter may have any argument (a ghost of the method), or one that the method knows.
//!
//! Where we differ: the paper has ghosts where the program declares them; here every family has one ghost at most, and keeps it only if some guard or protecting lock rests on it.
//! Where some classes of a family guard their fields themselves and others leave that to their owner, the former are internally synchronized (`internal`).
//! What leaves the types of its family (to `Object`, foreign interfaces, library code, clients, lambdas) has `none`, and so has everything that comes from there.
//! Guaranteed: two names of one object never have different arguments.

mod flows;
mod internal;
mod settle;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::{ClassKind, Type};
use untorn_program::{ClassId, FieldId, MethodId, ValueId};

use super::fields::FieldFacts;
use super::fresh::Shape;
use super::world::World;
use crate::input::{self, Allocation, Arg, Discipline, Flow, Guard, Slot, SlotId};
use crate::locks::{Ghost, Lock, Locks, Root};

pub use flows::Scan;
pub use internal::Internal;

/// Classes related by inheritance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Family(pub u32);

/// Where the candidates of a slot come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A field: what its class knows.
    Field(FieldId),
    /// A parameter or result: what its method knows.
    Method(MethodId),
    /// An allocation: what the method knows, and what it allocates itself.
    New(MethodId),
    /// Any other value: what flows to it.
    Value,
    /// Something that strangers give or get.
    Nothing,
}

/// A slot before its candidates are known.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    pub family: Family,
    pub origin: Origin,
}

/// The families of a program.
#[derive(Debug, Default)]
pub struct Families {
    of: FxHashMap<ClassId, Family>,
    pub count: u32,
}

impl Families {
    /// All families of translated classes that have fields a ghost might guard.
    pub fn find(world: &World<'_>) -> Families {
        let classes = world.table();
        let members: Vec<ClassId> = classes
            .class_ids()
            .filter(|&class| world.is_translated_class(class))
            .collect();
        let mut leader: FxHashMap<ClassId, ClassId> = members.iter().map(|&c| (c, c)).collect();
        fn root(leader: &FxHashMap<ClassId, ClassId>, mut class: ClassId) -> ClassId {
            while leader[&class] != class {
                class = leader[&class];
            }
            class
        }
        for &class in &members {
            for &above in classes.supertypes(class) {
                if above != classes.well_known.object && leader.contains_key(&above) {
                    let (a, b) = (root(&leader, class), root(&leader, above));
                    leader.insert(a.max(b), a.min(b));
                }
            }
        }
        let mut worthy: FxHashSet<ClassId> = FxHashSet::default();
        for &class in &members {
            let changes = classes.class(class).fields.iter().any(|&field| {
                let flags = classes.field(field).flags;
                !flags.is_static() && !flags.is_final() && !flags.is_volatile()
            });
            if changes {
                worthy.insert(root(&leader, class));
            }
        }
        let mut families = Families::default();
        let mut numbers: FxHashMap<ClassId, Family> = FxHashMap::default();
        for &class in &members {
            let leader = root(&leader, class);
            if worthy.contains(&leader) {
                let next = Family(numbers.len() as u32);
                let family = *numbers.entry(leader).or_insert(next);
                families.of.insert(class, family);
            }
        }
        families.count = numbers.len() as u32;
        families
    }
}

/// Which ghosts a translation has.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Families without.
    pub off: FxHashSet<Family>,
    /// Classes that need none.
    pub internal: Internal,
}

/// The ghosts of one translation.
#[derive(Debug, Default)]
pub struct Ghosts {
    of: FxHashMap<ClassId, Family>,
    by_family: FxHashMap<Family, Ghost>,
    fields: FxHashMap<FieldId, SlotId>,
    params: FxHashMap<(MethodId, usize), (SlotId, Ghost)>,
    results: FxHashMap<MethodId, SlotId>,
    values: FxHashMap<(MethodId, ValueId), Arg>,
    open: Vec<Open>,
    flows: Vec<Flow>,
    allocations: Vec<(Family, SlotId)>,
    /// Classes that are synchronized internally, and the arguments of their objects.
    internal: Internal,
    internal_slots: Vec<SlotId>,
    /// What each method allocates, outside loops.
    made: FxHashMap<MethodId, Vec<Lock>>,
    /// Families whose objects flow where no ghost can follow.
    pub lost: FxHashSet<Family>,
    /// Families whose objects serve as locks.
    pub protected: FxHashSet<Family>,
}

impl Ghosts {
    /// Finds where references of the families flow; those switched off have no ghosts.
    pub fn find(
        world: &World<'_>,
        facts: &FieldFacts,
        shapes: &FxHashMap<MethodId, Shape<'_>>,
        locks: &mut Locks,
        families: &Families,
        choice: &Choice,
    ) -> Ghosts {
        let off = &choice.off;
        let mut ghosts = Ghosts {
            internal: choice.internal.clone(),
            of: families
                .of
                .iter()
                .filter(|(_, family)| !off.contains(family))
                .map(|(&class, &family)| (class, family))
                .collect(),
            ..Ghosts::default()
        };
        if ghosts.of.is_empty() {
            return ghosts;
        }
        for number in 0..families.count {
            let family = Family(number);
            if !off.contains(&family) {
                let ghost = locks.ghost("owner");
                ghosts.by_family.insert(family, ghost);
            }
        }
        for &method in &world.methods {
            if let Some(shape) = shapes.get(&method) {
                Scan::run(&mut ghosts, world, facts, locks, shape);
            }
        }
        ghosts
    }

    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The family of a class, or of the elements of an array.
    pub fn family(&self, world: &World<'_>, ty: Type) -> Option<Family> {
        let mut class = ty.class()?;
        while let ClassKind::Array(Some(component)) = world.table().class(class).kind {
            class = component;
        }
        self.of.get(&class).copied()
    }

    pub fn family_of_class(&self, class: ClassId) -> Option<Family> {
        self.of.get(&class).copied()
    }

    /// Objects of the class serve as locks.
    pub fn protects(&mut self, class: ClassId) {
        self.protected.extend(self.of.get(&class));
    }

    /// The ghost of the objects of a class.
    pub fn ghost_of(&self, class: ClassId) -> Option<Ghost> {
        self.by_family.get(self.of.get(&class)?).copied()
    }

    /// The ghosts of a method's parameters.
    pub fn params_of(&self, method: MethodId, count: usize) -> Vec<(usize, Ghost)> {
        (0..count)
            .filter_map(|index| Some((index, self.params.get(&(method, index))?.1)))
            .collect()
    }

    /// The ghost argument of a value; `none` for what is of no family.
    pub fn arg(&self, method: MethodId, value: ValueId) -> Arg {
        let known = self.values.get(&(method, value)).copied();
        known.unwrap_or(Arg::Lock(Locks::NONE))
    }

    /// The class of a family in the input; 0 is the class of all others.
    pub fn input_class(family: Option<Family>) -> input::ClassId {
        input::ClassId(family.map_or(0, |family| family.0 + 1))
    }

    /// The classes of the input: that without ghosts, and one for each family.
    pub fn input_classes(&self, families: &Families) -> Vec<input::Class> {
        let mut classes = vec![input::Class::default()];
        for number in 0..families.count {
            let ghost = self.by_family.get(&Family(number)).copied();
            classes.push(input::Class {
                ghosts: ghost.into_iter().collect(),
                protecting: ghost,
            });
        }
        classes
    }

    fn slot(&mut self, family: Family, origin: Origin) -> SlotId {
        self.open.push(Open { family, origin });
        SlotId(self.open.len() as u32 - 1)
    }

    fn field_slot(&mut self, family: Family, field: FieldId) -> SlotId {
        if let Some(&slot) = self.fields.get(&field) {
            return slot;
        }
        let slot = self.slot(family, Origin::Field(field));
        self.fields.insert(field, slot);
        slot
    }

    fn param_slot(
        &mut self,
        world: &World<'_>,
        locks: &mut Locks,
        family: Family,
        method: MethodId,
        index: usize,
    ) -> SlotId {
        if let Some(&(slot, _)) = self.params.get(&(method, index)) {
            return slot;
        }
        let ghost = locks.ghost(&format!("owner_of_arg{index}"));
        let origin = if world.is_open(method) {
            Origin::Nothing
        } else {
            Origin::Method(method)
        };
        let slot = self.slot(family, origin);
        self.params.insert((method, index), (slot, ghost));
        slot
    }

    fn result_slot(&mut self, world: &World<'_>, family: Family, method: MethodId) -> SlotId {
        if let Some(&slot) = self.results.get(&method) {
            return slot;
        }
        let origin = if world.is_open(method) {
            Origin::Nothing
        } else {
            Origin::Method(method)
        };
        let slot = self.slot(family, origin);
        self.results.insert(method, slot);
        slot
    }

    /// The allocations of the input.
    pub fn allocations(&self) -> Vec<Allocation> {
        self.allocations
            .iter()
            .filter_map(|&(family, slot)| {
                let ghost = *self.by_family.get(&family)?;
                let actuals = input::Actuals(vec![(Root::Ghost(ghost), Arg::Slot(slot))]);
                Some(Allocation {
                    classes: vec![(Ghosts::input_class(Some(family)), actuals)],
                })
            })
            .collect()
    }

    /// The arguments of objects of internally synchronized classes.
    pub fn internal_slots(&self) -> Vec<SlotId> {
        self.internal_slots.clone()
    }

    /// Which classes are synchronized internally.
    pub fn internal(&self) -> &Internal {
        &self.internal
    }

    /// Where the candidates of each slot come from.
    pub fn origins(&self) -> Vec<Origin> {
        self.open.iter().map(|open| open.origin).collect()
    }

    /// Slots with their candidates, and the flows between those that have a choice.
    /// For each slot, `known` are the locks that its scope knows.
    pub fn settle(&mut self, locks: &mut Locks, known: Vec<Vec<Lock>>) -> (Vec<Slot>, Vec<Flow>) {
        settle::settle(self, locks, known)
    }

    /// Families none of whose objects can have anything but `none`.
    pub fn hopeless(&self, slots: &[Slot]) -> FxHashSet<Family> {
        self.without(|index| !slots[index].candidates.is_empty())
    }

    /// Families that a discipline makes no use of: no guard is their ghost, and no lock of theirs is protected.
    pub fn unused(&self, locks: &Locks, discipline: &Discipline) -> FxHashSet<Family> {
        let mut unused = self.without(|index| {
            self.protected.contains(&self.open[index].family)
                && discipline.slots.get(index) != Some(&Locks::NONE)
        });
        for guard in &discipline.guards {
            if let Guard::GuardedBy(lock) | Guard::WriteGuardedBy(lock) = *guard
                && let Root::Ghost(ghost) = locks.root_of(lock)
            {
                unused.retain(|family| self.by_family.get(family) != Some(&ghost));
            }
        }
        unused
    }

    fn without(&self, used: impl Fn(usize) -> bool) -> FxHashSet<Family> {
        let mut rest: FxHashSet<Family> = self.by_family.keys().copied().collect();
        for (index, open) in self.open.iter().enumerate() {
            if used(index) {
                rest.remove(&open.family);
            }
        }
        rest
    }
}
