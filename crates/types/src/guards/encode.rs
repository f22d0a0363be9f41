//! The constraints of guard inference as clauses.
//!
//! A guard of a field is in force only if every access that is not confined holds it: by a lock taken in the body, or by a requirement on the method's callers, which they must meet in turn.
//! Locks that a method is declared to require are asked of all known callers; strangers are trusted to hold them.
//! A lock expression reaches another scope through the actuals; where a ghost's actual is an open slot, the clause carries the slot's choice as a condition.

use rustc_hash::{FxHashMap, FxHashSet};
use rustsat::types::Lit;

use super::maxsat::Wishes;
use super::problem::{Point, Problem};
use crate::input::{Actuals, Arg, FieldId, Guard, MethodId, SlotId};
use crate::locks::{Ghost, Lock, Locks, Root};
use crate::substitution::Substitution;

/// What a guard must be held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Every access.
    Full,
    /// Every write.
    Writes,
}

/// The variables by their meaning.
#[derive(Debug, Default)]
pub struct Variables {
    /// For every field its possible guards, full ones first.
    pub guards: Vec<Vec<(Strength, Lock, Lit)>>,
    /// For every slot its possible choices.
    pub slots: Vec<Vec<(Lock, Lit)>>,
    /// What a method may require to be held.
    pub holds: FxHashMap<(MethodId, Lock), Lit>,
    /// Protecting ghosts that a method may require to be held or `none`.
    pub protects: FxHashMap<(MethodId, Lock), Lit>,
}

/// One possible meaning of a lock expression in another scope.
struct Image {
    /// The slot's choice that it depends on.
    choice: Option<Lit>,
    /// The lock expression there, if it has one.
    lock: Option<Lock>,
}

/// A requirement in some context.
enum Met {
    Always,
    /// If any of these is true.
    If(Vec<Lit>),
}

pub struct Encoder<'a> {
    locks: &'a mut Locks,
    problem: &'a Problem,
    pub wishes: Wishes,
    pub vars: Variables,
}

/// Levels of wishes: declared guards, then guarded fields, then fully guarded ones, then protecting locks.
const DECLARED: usize = 0;
const GUARDED: usize = 1;
const FULLY: usize = 2;
const PROTECTED: usize = 3;

impl<'a> Encoder<'a> {
    pub fn new(locks: &'a mut Locks, problem: &'a Problem) -> Encoder<'a> {
        Encoder {
            locks,
            problem,
            wishes: Wishes::default(),
            vars: Variables::default(),
        }
    }

    pub fn encode(&mut self) {
        self.slot_choices();
        self.guard_choices();
        self.requirements();
        self.accesses();
        self.calls();
        self.overrides();
        self.syncs();
        self.flows();
        self.allocations();
        self.nested_ghosts();
        self.internal();
        self.preferences();
    }

    fn slot_choices(&mut self) {
        for slot in &self.problem.slots {
            let mut choices: Vec<(Lock, Lit)> = Vec::new();
            for &lock in slot.candidates.iter().chain([&Locks::NONE]) {
                if !choices.iter().any(|&(l, _)| l == lock) {
                    choices.push((lock, self.wishes.var()));
                }
            }
            let lits: Vec<Lit> = choices.iter().map(|&(_, lit)| lit).collect();
            self.wishes.at_most_one(&lits);
            self.wishes.clause(lits);
            if slot.protecting
                && let Some(&(_, none)) = choices.iter().find(|(lock, _)| *lock == Locks::NONE)
            {
                self.wishes.wish(PROTECTED, !none);
            }
            self.vars.slots.push(choices);
        }
    }

    fn guard_choices(&mut self) {
        for field in &self.problem.fields {
            let mut guards = Vec::new();
            match field.fixed {
                Some(Guard::GuardedBy(lock)) => {
                    guards.push((Strength::Full, lock, self.wishes.var()));
                }
                Some(Guard::WriteGuardedBy(lock)) => {
                    guards.push((Strength::Writes, lock, self.wishes.var()));
                }
                Some(Guard::Final | Guard::NoGuard) => {}
                None => {
                    for strength in [Strength::Full, Strength::Writes] {
                        for &lock in &field.candidates {
                            // These two exclude nobody.
                            if !self.locks.is_special(lock) {
                                guards.push((strength, lock, self.wishes.var()));
                            }
                        }
                    }
                }
            }
            let lits: Vec<Lit> = guards.iter().map(|&(.., lit)| lit).collect();
            self.wishes.at_most_one(&lits);
            if field.fixed.is_some() {
                for lit in lits {
                    self.wishes.wish(DECLARED, lit);
                }
            } else if !lits.is_empty() {
                let some = self.any(lits.clone());
                self.wishes.wish(GUARDED, some);
                let full = self.any(lits[..lits.len() / 2].to_vec());
                self.wishes.wish(FULLY, full);
            }
            self.vars.guards.push(guards);
        }
    }

    /// A literal that is true only if one of these is.
    fn any(&mut self, mut lits: Vec<Lit>) -> Lit {
        if let [lit] = lits[..] {
            return lit;
        }
        let result = self.wishes.var();
        lits.push(!result);
        self.wishes.clause(lits);
        result
    }

    fn requirements(&mut self) {
        for (index, method) in self.problem.methods.iter().enumerate() {
            let id = MethodId(index as u32);
            let inferred: &[Lock] = if method.open { &[] } else { &method.may_hold };
            for &lock in method.holds.iter().chain(inferred) {
                if !self.vars.holds.contains_key(&(id, lock)) {
                    let lit = self.wishes.var();
                    self.vars.holds.insert((id, lock), lit);
                }
            }
            for &lock in &method.holds {
                self.wishes.wish(DECLARED, self.vars.holds[&(id, lock)]);
            }
            for &ghost in &method.protecting {
                let lit = self.wishes.var();
                self.vars.protects.insert((id, ghost), lit);
            }
        }
    }

    fn images(&mut self, lock: Lock, actuals: &Actuals, keep: bool) -> Vec<Image> {
        let root = self.locks.root_of(lock);
        let arg = actuals
            .0
            .iter()
            .find(|(r, _)| *r == root)
            .map(|&(_, arg)| arg);
        let start = || {
            if keep {
                Substitution::identity()
            } else {
                Substitution::new()
            }
        };
        let choices: Vec<(Option<Lit>, Option<Lock>)> = match arg {
            Some(Arg::Slot(slot)) => match self.vars.slots.get(slot.index()) {
                Some(choices) => choices
                    .iter()
                    .map(|&(l, lit)| (Some(lit), Some(l)))
                    .collect(),
                None => vec![(None, None)],
            },
            Some(Arg::Lock(lock)) => vec![(None, Some(lock))],
            Some(Arg::Unknown) => vec![(None, None)],
            None => {
                let lock = start().apply(self.locks, lock);
                return vec![Image { choice: None, lock }];
            }
        };
        choices
            .into_iter()
            .map(|(choice, target)| {
                let lock = start().with(root, target).apply(self.locks, lock);
                Image { choice, lock }
            })
            .collect()
    }

    /// Is one of these names of a lock held at the point?
    fn met(&self, point: &Point, names: &[Lock]) -> Met {
        let mut lits = Vec::new();
        for &lock in names {
            // A thread always holds its own lock.
            if lock == Locks::TLL || point.held.contains(&lock) {
                return Met::Always;
            }
            if point.blurred {
                continue;
            }
            lits.extend(self.vars.holds.get(&(point.method, lock)));
        }
        Met::If(lits)
    }

    /// `conditions ⇒ met`
    fn require(&mut self, conditions: &[Option<Lit>], met: Met) {
        if let Met::If(mut lits) = met {
            lits.extend(conditions.iter().flatten().map(|&lit| !lit));
            self.wishes.clause(lits);
        }
    }

    fn accesses(&mut self) {
        for access in &self.problem.accesses {
            let guards = self
                .vars
                .guards
                .get(access.field.index())
                .cloned()
                .unwrap_or_default();
            for (strength, guard, lit) in guards {
                if strength == Strength::Writes && !access.write {
                    continue;
                }
                for image in self.images(guard, &access.actuals, false) {
                    let met = match image.lock {
                        // Held by all at once, it guards nothing.
                        None | Some(Locks::ALWAYS_HELD | Locks::NONE) => Met::If(Vec::new()),
                        Some(lock) => {
                            self.met(&access.point, &names(self.locks, lock, access.write))
                        }
                    };
                    self.require(&[Some(lit), image.choice], met);
                }
            }
        }
    }

    fn calls(&mut self) {
        for call in &self.problem.calls {
            let Some(callee) = self.problem.methods.get(call.method.index()) else {
                continue;
            };
            for &lock in callee.may_hold.iter().chain(&callee.holds) {
                let Some(&lit) = self.vars.holds.get(&(call.method, lock)) else {
                    continue;
                };
                for image in self.images(lock, &call.actuals, false) {
                    let met = match image.lock {
                        None | Some(Locks::NONE) => Met::If(Vec::new()),
                        Some(Locks::ALWAYS_HELD) => Met::Always,
                        Some(lock) => self.met(&call.point, &[lock]),
                    };
                    self.require(&[Some(lit), image.choice], met);
                }
            }
            for &ghost in &callee.protecting {
                let Some(&lit) = self.vars.protects.get(&(call.method, ghost)) else {
                    continue;
                };
                for image in self.images(ghost, &call.actuals, false) {
                    let met = self.protected(&call.point, image.lock);
                    self.require(&[Some(lit), image.choice], met);
                }
            }
        }
    }

    /// A protecting lock must be held, be `none`, or be required of callers in the same way.
    ///
    /// That callers hold it is not enough for one that they choose: for `always_held`, which protects nothing, they do.
    fn protected(&self, point: &Point, lock: Option<Lock>) -> Met {
        match lock {
            Some(Locks::NONE) => Met::Always,
            None | Some(Locks::ALWAYS_HELD) => Met::If(Vec::new()),
            Some(lock) => match (
                self.met(point, &[lock]),
                self.vars.protects.get(&(point.method, lock)),
            ) {
                (Met::If(_), Some(&required)) if !point.blurred => Met::If(vec![required]),
                (met, _) => met,
            },
        }
    }

    fn syncs(&mut self) {
        for sync in &self.problem.syncs {
            let choices: Vec<(Option<Lit>, Option<Lock>)> = match sync.protector {
                Arg::Lock(lock) => vec![(None, Some(lock))],
                Arg::Slot(SlotId(slot)) => match self.vars.slots.get(slot as usize) {
                    Some(choices) => choices
                        .iter()
                        .map(|&(l, lit)| (Some(lit), Some(l)))
                        .collect(),
                    None => Vec::new(),
                },
                Arg::Unknown => Vec::new(),
            };
            for (choice, lock) in choices {
                let met = self.protected(&sync.point, lock);
                self.require(&[choice], met);
            }
        }
    }

    /// What an overrider requires, the overridden method must require too, since callers may only see that one.
    fn overrides(&mut self) {
        for (index, method) in self.problem.methods.iter().enumerate() {
            let id = MethodId(index as u32);
            for (overridden, ghosts) in &method.overrides {
                let Some(upper) = self.problem.methods.get(overridden.index()) else {
                    continue;
                };
                for &lock in method.may_hold.iter().chain(&method.holds) {
                    let Some(&lit) = self.vars.holds.get(&(id, lock)) else {
                        continue;
                    };
                    let mut sources = Vec::new();
                    for &above in upper.may_hold.iter().chain(&upper.holds) {
                        let Some(&required) = self.vars.holds.get(&(*overridden, above)) else {
                            continue;
                        };
                        for image in self.images(above, ghosts, true) {
                            if image.lock == Some(lock) {
                                sources.push(self.both(required, image.choice));
                            }
                        }
                    }
                    self.require(&[Some(lit)], Met::If(sources));
                }
            }
        }
    }

    fn both(&mut self, a: Lit, b: Option<Lit>) -> Lit {
        let Some(b) = b else { return a };
        let result = self.wishes.var();
        self.wishes.clause([!result, a]);
        self.wishes.clause([!result, b]);
        result
    }

    fn choices(&self, arg: Arg) -> Vec<(Option<Lit>, Lock)> {
        match arg {
            Arg::Lock(lock) => vec![(None, lock)],
            Arg::Slot(slot) => match self.vars.slots.get(slot.index()) {
                Some(choices) => choices
                    .iter()
                    .map(|&(lock, lit)| (Some(lit), lock))
                    .collect(),
                None => vec![(None, Locks::NONE)],
            },
            // Code that knows no ghosts can keep no promise about them.
            Arg::Unknown => vec![(None, Locks::NONE)],
        }
    }

    fn flows(&mut self) {
        for flow in &self.problem.flows {
            let targets = self.choices(flow.to);
            for (from_choice, from) in self.choices(flow.from) {
                for image in self.images(from, &flow.actuals, false) {
                    for &(to_choice, to) in &targets {
                        if image.lock != Some(to) {
                            let met = Met::If(Vec::new());
                            self.require(&[from_choice, image.choice, to_choice], met);
                        }
                    }
                }
            }
        }
    }

    /// What is allocated with a ghost as its own argument has that ghost's lock: where the inner ghost guards something, the outer one does.
    ///
    /// So an object may not have `always_held` either if a guard of what is inside of it would come to rest on nothing.
    fn nested_ghosts(&mut self) {
        let mut rests: FxHashMap<Ghost, Lit> = FxHashMap::default();
        for guards in self.vars.guards.clone() {
            for (_, guard, lit) in guards {
                if let Root::Ghost(ghost) = self.locks.root_of(guard) {
                    let rests = self.rests(&mut rests, ghost);
                    self.wishes.clause([!lit, rests]);
                }
            }
        }
        let classes: FxHashSet<Ghost> = (self.problem.classes.iter())
            .flat_map(|class| class.ghosts.iter().copied())
            .collect();
        let allocations = self.problem.allocations.iter();
        let allocated = allocations.flat_map(|a| a.classes.iter().map(|(_, actuals)| actuals));
        // Ghosts of a method get their locks at its calls.
        let called = self.problem.calls.iter().map(|call| &call.actuals);
        let all = allocated
            .map(|a| (a, true))
            .chain(called.map(|a| (a, false)));
        for (actuals, of_class) in all.collect::<Vec<_>>() {
            for &(root, arg) in &actuals.0 {
                let Root::Ghost(inner) = root else { continue };
                if classes.contains(&inner) != of_class || arg == Arg::Unknown {
                    continue;
                }
                for (choice, lock) in self.choices(arg) {
                    let condition: Vec<Lit> = choice.into_iter().map(|lit| !lit).collect();
                    let inner = self.rests(&mut rests, inner);
                    let mut clause = condition;
                    clause.push(!inner);
                    match self.locks.root_of(lock) {
                        Root::AlwaysHeld => self.wishes.clause(clause),
                        Root::Ghost(outer) => {
                            clause.push(self.rests(&mut rests, outer));
                            self.wishes.clause(clause);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// True if something rests on the ghost.
    fn rests(&mut self, known: &mut FxHashMap<Ghost, Lit>, ghost: Ghost) -> Lit {
        *known.entry(ghost).or_insert_with(|| self.wishes.var())
    }

    /// The ghost of an internally synchronized object is no lock that could exclude anybody.
    fn internal(&mut self) {
        for slot in &self.problem.internal {
            let choices = self.vars.slots.get(slot.index()).cloned();
            for (lock, lit) in choices.unwrap_or_default() {
                if !self.locks.is_special(lock) {
                    self.wishes.clause([!lit]);
                }
            }
        }
    }

    /// No object whose fields a ghost guards, or whose lock a ghost protects, may have `always_held` for it.
    fn allocations(&mut self) {
        for (class, actuals) in self.problem.allocations.iter().flat_map(|a| &a.classes) {
            let fields = self
                .problem
                .fields
                .iter()
                .enumerate()
                .filter(|(_, f)| f.owner == *class);
            let indices: Vec<FieldId> = fields.map(|(i, _)| FieldId(i as u32)).collect();
            for field in indices {
                for (_, guard, lit) in self.vars.guards[field.index()].clone() {
                    let Root::Ghost(_) = self.locks.root_of(guard) else {
                        continue;
                    };
                    for image in self.images(guard, actuals, false) {
                        if matches!(image.lock, None | Some(Locks::ALWAYS_HELD)) {
                            self.require(&[Some(lit), image.choice], Met::If(Vec::new()));
                        }
                    }
                }
            }
            let class = self.problem.classes.get(class.index());
            if let Some(ghost) = class.and_then(|c| c.protecting) {
                let ghost = self.locks.root(Root::Ghost(ghost));
                for image in self.images(ghost, actuals, false) {
                    if image.lock == Some(Locks::ALWAYS_HELD) && image.choice.is_some() {
                        self.require(&[image.choice], Met::If(Vec::new()));
                    }
                }
            }
        }
    }

    /// Early candidates before late ones, and no requirement without need.
    fn preferences(&mut self) {
        for guards in &self.vars.guards {
            for &(.., lit) in guards {
                self.wishes.prefer(lit);
            }
        }
        let mut holds: Vec<_> = self.vars.holds.iter().collect();
        holds.sort_unstable_by_key(|&(key, _)| *key);
        for (_, &lit) in holds {
            self.wishes.prefer(!lit);
        }
        for slots in &self.vars.slots {
            for &(_, lit) in slots {
                self.wishes.prefer(lit);
            }
        }
    }
}

/// Under which names a guard may be held: for reads, also by the read side of a read-write lock.
pub(super) fn names(locks: &Locks, guard: Lock, write: bool) -> Vec<Lock> {
    let shared = if write {
        None
    } else {
        locks.known_shared(guard)
    };
    [guard].into_iter().chain(shared).collect()
}
