//! What the analysis wants to know of a program: the seam to whatever reads programs.
//!
//! A translator produces one [`Program`]; nothing else in this crate looks at classes, bytecode or SSA.
//!
//! # How to translate
//! - *Names of values.* Give every value of a method the best lock expression there is: `this`, a [`Root::Param`], a class object, or a path of final (or effectively final) fields over these; a value that has none gets a [`Root::Local`] of its own.
//!   A local needs an [`Effect::Bind`] where it gets its value, so that a loop does not confuse one iteration's object with the next one's.
//!   Beyond the size bound [`Locks::field`] gives nothing, and the value gets a local.
//! - *Ghosts.* A class or method may have ghost parameters.
//!   Wherever a type with ghosts is written or flows (field types, parameter types, results, allocations, `extends`), there is a [`Slot`]: an unknown lock expression with the candidates that make sense in that scope.
//!   A [`Flow`] says that two slots must agree, after substitution.
//! - *Graph.* One node per effect; instructions without an effect need no node.
//!   Exceptional edges are ordinary edges.
//!   Lock release on exceptional paths must be there as in the bytecode.
//!   `tryLock` is an [`Effect::Acquire`] on its success branch only; a failing `tryLock` counts as one that may always fail, so it is no access to the lock.
//!   The write lock of a read-write lock is the plain path, the read lock [`Locks::shared`] of it.
//!   `wait` is [`Effect::Does`]`(cmpd)`, starting a thread [`Effect::Does`]`(atomic)` together with an entry in [`Program::threads`].
//!   An array element is an access to the array field if the array does not escape, else [`Effect::Does`]`(atomic)` (`cmpd` for 64-bit elements).
//! - *Volatile fields* are never `wide`, and guarded like others: who writes under a lock that all writers hold may read there as a mover, whatever readers without it do.
//!   Final fields have the fixed guard [`Guard::Final`].
//! - *Confined accesses* are those to objects that no other thread can know yet (constructors before `this` escapes, local allocations).

use crate::algebra::{Algebra, Atomicity};
use crate::locks::{FieldName, Ghost, Lock, Locks, Root};
use crate::substitution::Substitution;

macro_rules! index {
    ($(#[$doc:meta] $name:ident),* $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index into the table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index!(
    /// Index into [`Program::classes`].
    ClassId,
    /// Index into [`Program::fields`].
    FieldId,
    /// Index into [`Program::methods`].
    MethodId,
    /// Index into [`Program::slots`].
    SlotId,
    /// Index into [`Graph::nodes`].
    NodeId,
    /// A region inside a method that ought to be atomic; the meaning of the number is the translator's.
    RegionId,
    /// A place in the program; the meaning of the number is the translator's.
    Site,
);

/// The protection of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// Never written after initialization.
    Final,
    /// The lock is held at every access; in terms of the owner (`this`, its ghosts, class objects).
    GuardedBy(Lock),
    /// The lock is held at every write.
    WriteGuardedBy(Lock),
    /// None.
    NoGuard,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// The class that declares it.
    pub owner: ClassId,
    /// Non-volatile and 64 bits wide: an unprotected access is two steps.
    pub wide: bool,
    /// Known or declared protection; otherwise it is inferred.
    pub fixed: Option<Guard>,
    /// Possible guards in terms of the owner, best first.
    pub candidates: Vec<Lock>,
}

/// A class.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// The ghost parameters.
    pub ghosts: Vec<Ghost>,
    /// The ghost that names the lock that protects this class's own lock.
    pub protecting: Option<Ghost>,
}

/// An actual for a root of another scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// This lock expression.
    Lock(Lock),
    /// Whatever is chosen for the slot.
    Slot(SlotId),
    /// A value without a name here.
    Unknown,
}

/// Actuals for the receiver, parameters and ghosts of another scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Actuals(pub Vec<(Root, Arg)>);

impl Actuals {
    /// The substitution once the slots are chosen.
    pub fn substitution(&self, slots: &[Lock]) -> Substitution {
        self.extend(Substitution::new(), slots)
    }

    /// Another substitution with these actuals added, once the slots are chosen.
    pub fn extend(&self, mut theta: Substitution, slots: &[Lock]) -> Substitution {
        for &(root, arg) in &self.0 {
            let lock = match arg {
                Arg::Lock(lock) => Some(lock),
                Arg::Slot(slot) => slots.get(slot.index()).copied(),
                Arg::Unknown => None,
            };
            theta.set(root, lock);
        }
        theta
    }
}

/// An unknown ghost argument.
#[derive(Clone, Debug)]
pub struct Slot {
    /// What it may be, best first; [`Locks::NONE`] is always possible besides.
    /// `always_held` only where the type may be that of an internally synchronized object, `tll` only where the object is confined to its thread.
    pub candidates: Vec<Lock>,
    /// The slot names a protecting lock, so `none` is a sensible but a weaker choice.
    pub protecting: bool,
}

/// `θ(from) = to`, because a value flows between two types.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The slot on the one side.
    pub from: Arg,
    /// The substitution from its scope to that of `to`.
    pub actuals: Actuals,
    /// The slot or lock expression on the other side.
    pub to: Arg,
}

/// An allocation: which slot stands for which ghost of the class and its superclasses.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The class and its superclasses, each with the actuals for its ghosts.
    pub classes: Vec<(ClassId, Actuals)>,
}

/// A possible callee.
#[derive(Clone, Debug)]
pub struct Target {
    /// The method.
    pub method: MethodId,
    /// Actuals for its receiver, parameters, and all ghosts in its scope.
    pub actuals: Actuals,
    /// Section 7.4: the callee runs only for objects of internally synchronized classes, whose ghost is `always_held` or `none`; this is the ghost argument of the receiver.
    /// Without it the callee may run for any receiver.
    pub internal: Option<Arg>,
}

/// What a node of a graph does.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Nothing.
    Skip,
    /// Something of known atomicity, whose tests speak of the locks held at this point.
    Does(Atomicity),
    /// A field access.
    Access {
        /// The field.
        field: FieldId,
        /// Actuals for the `this` and the ghosts of its owner.
        actuals: Actuals,
        /// Write or read.
        write: bool,
        /// No other thread can know the object.
        confined: bool,
    },
    /// Takes a lock, once more if it is held.
    Acquire {
        /// Its name, if it has one.
        lock: Option<Lock>,
        /// Its protecting lock, if its class has one; an unknown one makes the acquire an error, so give it a slot.
        protector: Option<Arg>,
    },
    /// Gives a lock back, once.
    Release {
        /// Its name; without one, no lock counts as held from here on.
        lock: Option<Lock>,
        /// Its protecting lock, if its class has one.
        protector: Option<Arg>,
    },
    /// Calls one of these.
    Call(Vec<Target>),
    /// The local gets a new value.
    Bind(u32),
    /// From here on a lock counts as held because somebody says so, or no longer.
    Assume {
        /// The lock.
        lock: Lock,
        /// Whether it is held from here on.
        held: bool,
    },
    /// A region begins.
    Begin {
        /// Which one.
        region: RegionId,
        /// `assert-atomic`: contexts in which it is compound are an error of the method.
        /// Regions that are only asked about leave the method's type alone.
        asserted: bool,
    },
    /// The innermost region ends.
    End,
}

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub effect: Effect,
    /// Where control goes next; nowhere at an exit.
    pub next: Vec<NodeId>,
    /// The place it stands for.
    pub site: Site,
}

/// A control-flow graph; node 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// Which fields of `this` the types of a method may mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisibleFields {
    /// All.
    Any,
    /// Those of the declaring class and its superclasses.
    Only(Vec<FieldName>),
}

/// What the atomicity of a method may mention.
#[derive(Clone, Debug)]
pub struct Scope {
    /// It has a receiver.
    pub this: bool,
    /// Its number of parameters.
    pub params: u16,
    /// The ghosts of its class and its own.
    pub ghosts: Vec<Ghost>,
    /// Fields that may follow `this`.
    pub fields: VisibleFields,
}

impl Scope {
    /// `P; E ⊢ l`: may the lock occur in the method's atomicity?
    pub fn admits(&self, locks: &Locks, lock: Lock) -> bool {
        match locks.root_of(lock) {
            Root::This => {
                self.this
                    && match (&self.fields, locks.first_field(lock)) {
                        (VisibleFields::Only(fields), Some(field)) => fields.contains(&field),
                        _ => true,
                    }
            }
            Root::Param(index) => index < self.params,
            Root::Ghost(ghost) => self.ghosts.contains(&ghost),
            Root::Local(_) => false,
            Root::Class(_) | Root::None | Root::AlwaysHeld | Root::ThreadLocal => true,
        }
    }
}

/// Overriding or implementing another method.
#[derive(Clone, Debug)]
pub struct Overrides {
    /// The method of the supertype.
    pub method: MethodId,
    /// Actuals for the supertype's ghosts in terms of the subclass; `this` and the parameters stay themselves without being listed.
    /// Where one is `none` or `always_held`, only such instances of the supertype are bounded, so every upcast must be a [`Flow`] to the supertype's slots.
    pub ghosts: Actuals,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// What its type may mention.
    pub scope: Scope,
    /// Its body; nothing for abstract, native and unknown methods, which then are what their overriders and their declaration say.
    pub body: Option<Graph>,
    /// The declared atomicity: believed by callers, checked against the body.
    pub declared: Option<Atomicity>,
    /// What it overrides or implements.
    pub overrides: Vec<Overrides>,
    /// Code outside the program may call it with no lock held: exported methods, started threads, tasks, callbacks.
    pub open: bool,
    /// Locks it may require its callers to hold, best first, in terms of its scope.
    pub may_hold: Vec<Lock>,
    /// Locks it is declared to require (`holds`).
    pub holds: Vec<Lock>,
}

/// A started thread: `[EXP FORK]` wants its method to be at most `tll ? cmpd : error`.
#[derive(Clone, Debug)]
pub struct ThreadStart {
    /// The method that the thread runs.
    pub run: MethodId,
    /// Where it is started.
    pub site: Site,
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The classes.
    pub classes: Vec<Class>,
    /// The fields.
    pub fields: Vec<Field>,
    /// The methods.
    pub methods: Vec<Method>,
    /// The unknown ghost arguments.
    pub slots: Vec<Slot>,
    /// Which slots must agree.
    pub flows: Vec<Flow>,
    /// The allocations of classes with ghosts.
    pub allocations: Vec<Allocation>,
    /// Ghost arguments of objects of internally synchronized classes: they are `always_held` or `none`.
    pub internal: Vec<SlotId>,
    /// The started threads.
    pub threads: Vec<ThreadStart>,
}

/// What guard inference found and atomicity inference builds on.
#[derive(Clone, Debug, Default)]
pub struct Discipline {
    /// The guard of every field.
    pub guards: Vec<Guard>,
    /// The choice for every slot.
    pub slots: Vec<Lock>,
}

impl Discipline {
    /// Rules `[EXP REF]` and `[EXP ASSIGN]`: the atomicity of one access, in terms of the accessing method.
    pub fn access(
        &self,
        algebra: &mut Algebra,
        field: FieldId,
        wide: bool,
        actuals: &Actuals,
        write: bool,
    ) -> Atomicity {
        let unprotected = if wide {
            Atomicity::CMPD
        } else {
            Atomicity::ATOMIC
        };
        let guard = self
            .guards
            .get(field.index())
            .copied()
            .unwrap_or(Guard::NoGuard);
        let (lock, held, not_held) = match guard {
            Guard::Final if write => return Atomicity::ERROR,
            Guard::Final => return Atomicity::CONST,
            Guard::NoGuard => return unprotected,
            Guard::GuardedBy(lock) => (lock, Atomicity::MOVER, Atomicity::ERROR),
            Guard::WriteGuardedBy(lock) if write => (lock, unprotected, Atomicity::ERROR),
            Guard::WriteGuardedBy(lock) => (lock, Atomicity::MOVER, unprotected),
        };
        let theta = actuals.substitution(&self.slots);
        let Some(lock) = theta.apply(&mut algebra.locks, lock) else {
            return algebra.join(held, not_held);
        };
        // For reads the read side of a read-write lock is enough.
        let lock = if write {
            lock
        } else {
            algebra.locks.known_shared(lock).unwrap_or(lock)
        };
        algebra.held(lock, held, not_held)
    }

    /// The lock expression of an argument, if it has one.
    pub fn lock(&self, arg: Arg) -> Option<Lock> {
        match arg {
            Arg::Lock(lock) => Some(lock),
            Arg::Slot(slot) => self.slots.get(slot.index()).copied(),
            Arg::Unknown => None,
        }
    }
}
