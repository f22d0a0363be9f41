//! Internally synchronized classes beside others of one family: section 7.4 of *Types for Atomicity*.
//!
//! A wrapper that takes its own lock and what it wraps implement one interface, yet only the latter needs a lock of its owner.
//! The paper gives the wrapper the ghost argument `always_held`, which all threads hold at once and which guards nothing: what asks for the owner's lock is content with it, and no object that needs an owner can have it.
//!
//! A class is internally synchronized here if all its fields have guards without any ghost.
//! Only families that have such classes and others make use of it; elsewhere the owner may protect the object's own lock as well (7.3), which is worth more.
//! - In the code of such a class and of its superclasses the ghost is no candidate at all: it guards no field, owns nothing that is inside, and is not asked of callers.
//!   Otherwise what is inside of the object would have `always_held` too.
//! - Its objects have `always_held` or `none`, and no other objects have `always_held` if a guard rests on the ghost.
//! - Their own locks are not protected by it.
//! - A method that only they run is left out of a call whose receiver has another argument: `(x = always_held) ? a : …`, the paper's predicated atomicity.
//!
//! Guaranteed: a call is never below what it may run, since all names of an object have one argument.

use rustc_hash::FxHashSet;
use untorn_program::{ClassId, MethodId};

use super::super::FieldKey;
use super::super::world::World;
use super::{Families, Family};
use crate::input::{Discipline, Guard};

/// The internally synchronized classes of the families that have others too.
#[derive(Debug, Clone, Default)]
pub struct Internal {
    classes: FxHashSet<ClassId>,
    families: FxHashSet<Family>,
    /// Types all of whose objects are of these classes.
    types: FxHashSet<ClassId>,
    /// The classes and what they inherit from.
    above: FxHashSet<ClassId>,
    /// Methods that only these classes inherit or declare, so that a call that looks at its receiver runs them for their objects alone.
    methods: FxHashSet<MethodId>,
}

fn is_concrete(world: &World<'_>, class: ClassId) -> bool {
    let flags = world.table().class(class).flags;
    !flags.is_abstract() && !flags.is_interface()
}

impl Families {
    /// The concrete classes of every family that has more than one, without those that are switched off.
    pub fn with_choice(
        &self,
        world: &World<'_>,
        off: &FxHashSet<Family>,
    ) -> Vec<(Family, Vec<ClassId>)> {
        let mut members: Vec<Vec<ClassId>> = vec![Vec::new(); self.count as usize];
        for (&class, family) in &self.of {
            if !off.contains(family) && is_concrete(world, class) {
                members[family.0 as usize].push(class);
            }
        }
        let numbered = members.into_iter().enumerate();
        numbered
            .filter(|(_, classes)| classes.len() > 1)
            .map(|(number, classes)| (Family(number as u32), classes))
            .collect()
    }
}

impl Internal {
    /// Sorts the classes by the guards that their fields have without ghosts.
    pub fn find(
        world: &World<'_>,
        families: &[(Family, Vec<ClassId>)],
        fields: &[FieldKey],
        discipline: &Discipline,
    ) -> Internal {
        let table = world.table();
        let unguarded: FxHashSet<ClassId> = fields
            .iter()
            .zip(&discipline.guards)
            .filter(|(_, guard)| **guard == Guard::NoGuard)
            .map(|(key, _)| table.field(key.field))
            .filter(|field| !field.flags.is_static())
            .map(|field| field.class)
            .collect();
        let mut internal = Internal::default();
        for (family, classes) in families {
            let guards_itself = |class: &ClassId| {
                let mut above = table.superclasses(*class);
                !above.any(|class| unguarded.contains(&class))
            };
            let own: Vec<ClassId> = classes.iter().copied().filter(guards_itself).collect();
            if !own.is_empty() && own.len() < classes.len() {
                internal.families.insert(*family);
                internal.add(world, &own, classes);
            }
        }
        internal
    }

    /// Adds the internally synchronized ones among the concrete classes of a family.
    fn add(&mut self, world: &World<'_>, own: &[ClassId], all: &[ClassId]) {
        let table = world.table();
        let mut others: FxHashSet<ClassId> = FxHashSet::default();
        let mut run_by_others: FxHashSet<MethodId> = FxHashSet::default();
        for &class in all {
            let internal = own.contains(&class);
            for &above in table.supertypes(class) {
                if internal {
                    self.types.insert(above);
                    self.above.insert(above);
                } else {
                    others.insert(above);
                }
                for &method in &table.class(above).methods {
                    let runs = table.select(class, method) == Some(method);
                    if table.method(method).flags.is_static() || !runs {
                        continue;
                    }
                    if internal {
                        self.methods.insert(method);
                    } else {
                        run_by_others.insert(method);
                    }
                }
            }
        }
        self.classes.extend(own);
        self.types.retain(|class| !others.contains(class));
        self.methods
            .retain(|method| !run_by_others.contains(method));
    }

    /// Whether the very class is internally synchronized.
    pub fn is(&self, class: ClassId) -> bool {
        self.classes.contains(&class)
    }

    /// Whether a family has internally synchronized classes beside others.
    pub fn mixes(&self, family: Family) -> bool {
        self.families.contains(&family)
    }

    /// Whether every object of this type is of an internally synchronized class.
    pub fn is_all(&self, class: ClassId) -> bool {
        self.types.contains(&class)
    }

    /// Whether some internally synchronized class is this one or inherits from it.
    pub fn is_above(&self, class: ClassId) -> bool {
        self.above.contains(&class)
    }

    /// Whether a call that looks at its receiver runs the method only for objects of internally synchronized classes; `super` may still run it for others.
    pub fn runs(&self, method: MethodId) -> bool {
        self.methods.contains(&method)
    }
}
