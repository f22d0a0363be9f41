//! What each instruction of a body does to locks, and to which.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::summary::Summaries;
use super::{LockKind, LockRef, MethodLock};
use crate::classes::Classes;
use crate::ids::{FieldId, InstrId, MethodId, Symbol, ValueId};
use crate::ir::{AccessPath, Body, Const, InvokeKind, Op, Root, Step};
use crate::library::{Effect, Library, LockAction, LockMode, Stamped, Waits};

/// What is done to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Acquire,
    /// Taken if the result is true, or no zero stamp.
    Try,
    Release,
    /// Gives it up in whatever way it is held.
    ReleaseAll,
    /// Begins to read without it.
    Look,
    /// Ends reading without it.
    Validate,
    /// Gives it up and takes it again.
    Wait,
}

/// What an instruction does to a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub act: Act,
    /// The lock; `None` for a condition of unknown origin: the innermost explicit lock.
    pub lock: Option<LockRef>,
}

/// What the instructions of a body do; a call of a method that keeps locks may do several things.
pub(super) type Actions = FxHashMap<InstrId, SmallVec<[Action; 1]>>;

/// What a method means for locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Lock(LockAction, LockMode),
    Stamped(Stamped),
    Wait(Waits),
    View(LockMode),
    Condition,
}

/// A field that always holds the same part of a lock that its object, or a static field, holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Derived {
    /// From the object whose field it is, or from a static field.
    from: Option<Root>,
    steps: SmallVec<[Step; 2]>,
    /// The mode of a view; `None` for a condition.
    mode: Option<LockMode>,
}

/// Which methods and fields have to do with locks.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    words: FxHashMap<MethodId, Word>,
    fields: FxHashMap<FieldId, Option<Derived>>,
}

impl Vocabulary {
    /// The words among all methods met.
    pub fn new(classes: &Classes, library: &Library) -> Self {
        let names: FxHashSet<Symbol> = library
            .lock_names()
            .filter_map(|name| classes.names.find(name))
            .collect();
        let words = (0..classes.method_count())
            .map(MethodId::new)
            .filter(|method| names.contains(&classes.method(*method).name))
            .filter_map(|method| Some((method, word(library.lock_effect(classes, method)?)?)))
            .collect();
        Self {
            words,
            fields: FxHashMap::default(),
        }
    }

    /// Whether a body has to do with locks other than by `synchronized`.
    pub fn concerns(&self, body: &Body) -> bool {
        body.instrs.iter().any(|instr| {
            matches!(&instr.op, Op::Invoke { method, .. } if self.words.contains_key(method))
        })
    }

    /// Learns which fields hold views and conditions of which locks.
    pub fn learn(&mut self, body: &Body) {
        for instr in &body.instrs {
            let (field, object, value) = match &instr.op {
                Op::PutField {
                    object,
                    field,
                    value,
                } => (*field, Some(*object), *value),
                Op::PutStatic { field, value } => (*field, None, *value),
                _ => continue,
            };
            let derived = self.derived(body, object, value);
            if derived.is_none() && !self.fields.contains_key(&field) {
                continue;
            }
            let known = self.fields.entry(field).or_insert_with(|| derived.clone());
            if *known != derived {
                *known = None;
            }
        }
    }

    fn derived(&self, body: &Body, object: Option<ValueId>, value: ValueId) -> Option<Derived> {
        let Op::Invoke { method, args, .. } = &body.defining(value)?.op else {
            return None;
        };
        let mode = match self.words.get(method)? {
            Word::View(mode) => Some(*mode),
            Word::Condition => None,
            _ => return None,
        };
        let lock = self.path(body, *args.first()?);
        if !matches!(lock.root, Root::Value(_)) {
            return Some(Derived {
                from: Some(lock.root),
                steps: lock.steps,
                mode,
            });
        }
        let object = object?;
        let base = self.path(body, object);
        if base.root == lock.root
            && let Some(rest) = lock.steps.strip_prefix(base.steps.as_slice())
        {
            return Some(Derived {
                from: None,
                steps: rest.into(),
                mode,
            });
        }
        // The lock itself is in a field of the same object, but was at hand before.
        let holder = body.instrs.iter().find_map(|instr| match instr.op {
            Op::PutField {
                object: of,
                field,
                value,
            } if of == object && value == args[0] => Some(field),
            _ => None,
        })?;
        Some(Derived {
            from: None,
            steps: smallvec![Step::Field(holder)],
            mode,
        })
    }

    /// How a body names a value.
    pub fn path(&self, body: &Body, value: ValueId) -> AccessPath {
        let stable = |method: MethodId| matches!(self.words.get(&method), Some(Word::View(_)));
        body.access_path(value, &stable)
    }

    /// The explicit lock behind a value that is one, or a view of one.
    fn explicit(&self, body: &Body, value: ValueId, mode: LockMode) -> LockRef {
        let lock = |value: Option<ValueId>, path: AccessPath, mode: LockMode| LockRef {
            kind: LockKind::Explicit,
            mode,
            value,
            path,
        };
        match body.defining(value).map(|instr| &instr.op) {
            Some(Op::Invoke { method, args, .. }) if args.len() == 1 => {
                if let Some(Word::View(mode)) = self.words.get(method) {
                    return lock(Some(args[0]), self.path(body, args[0]), *mode);
                }
            }
            Some(Op::Cast { value, .. }) => return self.explicit(body, *value, mode),
            _ => {}
        }
        match self.followed(body, value) {
            Some((path, Some(mode))) => lock(None, path, mode),
            _ => lock(Some(value), self.path(body, value), mode),
        }
    }

    /// The path of the lock that a view or condition in a field belongs to.
    fn followed(&self, body: &Body, value: ValueId) -> Option<(AccessPath, Option<LockMode>)> {
        let (base, field) = match &body.defining(value)?.op {
            Op::GetField { object, field } => (Some(*object), *field),
            Op::GetStatic { field } => (None, *field),
            Op::Cast { value, .. } => return self.followed(body, *value),
            _ => return None,
        };
        let derived = self.fields.get(&field)?.as_ref()?;
        let mut path = match (derived.from, base) {
            (Some(root), _) => AccessPath {
                root,
                steps: SmallVec::new(),
            },
            (None, Some(base)) => self.path(body, base),
            (None, None) => return None,
        };
        path.steps.extend_from_slice(&derived.steps);
        Some((path, derived.mode))
    }

    fn waited_for(&self, body: &Body, value: ValueId, waits: Waits) -> Option<LockRef> {
        let (kind, value, path) = match waits {
            Waits::Monitor => (LockKind::Monitor, Some(value), self.path(body, value)),
            Waits::Condition => {
                let made = match body.defining(value).map(|instr| &instr.op) {
                    Some(Op::Invoke { method, args, .. }) => {
                        let makes = self.words.get(method) == Some(&Word::Condition);
                        args.first().copied().filter(|_| makes)
                    }
                    _ => None,
                };
                let path = match made {
                    Some(lock) => self.path(body, lock),
                    None => self.followed(body, value)?.0,
                };
                (LockKind::Explicit, made, path)
            }
        };
        Some(LockRef {
            kind,
            mode: LockMode::Exclusive,
            value,
            path,
        })
    }

    fn action(&self, body: &Body, word: Word, receiver: ValueId) -> Option<Action> {
        let (act, mode) = match word {
            Word::Lock(LockAction::Acquire, mode) => (Act::Acquire, mode),
            Word::Lock(LockAction::Try, mode) => (Act::Try, mode),
            Word::Lock(LockAction::Release, mode) => (Act::Release, mode),
            Word::Stamped(Stamped::TryRead) => (Act::Try, LockMode::Shared),
            Word::Stamped(Stamped::TryWrite) => (Act::Try, LockMode::Exclusive),
            Word::Stamped(Stamped::Release) => (Act::ReleaseAll, LockMode::Exclusive),
            Word::Stamped(Stamped::Optimistic) => (Act::Look, LockMode::Shared),
            Word::Stamped(Stamped::Validate) => (Act::Validate, LockMode::Shared),
            Word::Wait(waits) => {
                return Some(Action {
                    act: Act::Wait,
                    lock: self.waited_for(body, receiver, waits),
                });
            }
            Word::View(_) | Word::Condition => return None,
        };
        Some(Action {
            act,
            lock: Some(self.explicit(body, receiver, mode)),
        })
    }
}

/// The lock of a synchronized method.
pub(super) fn method_lock(classes: &Classes, method: MethodId) -> Option<MethodLock> {
    let method = classes.method(method);
    let lock = if method.flags.is_static() {
        MethodLock::Class(method.class)
    } else {
        MethodLock::Receiver
    };
    method.flags.is_synchronized().then_some(lock)
}

fn word(effect: &Effect) -> Option<Word> {
    let stamped = effect.stamped.map(Word::Stamped);
    let lock = || effect.lock.map(|(action, mode)| Word::Lock(action, mode));
    let view = || effect.view.map(Word::View);
    let wait = || effect.waits.map(Word::Wait);
    let condition = || effect.condition.then_some(Word::Condition);
    stamped
        .or_else(lock)
        .or_else(view)
        .or_else(wait)
        .or_else(condition)
}

/// What the instructions of a body do; `callees` are the methods that a call may run.
pub(super) fn find(
    body: &Body,
    known: &Summaries,
    callees: &dyn Fn(InstrId) -> Vec<MethodId>,
) -> Actions {
    let vocabulary = known.vocabulary();
    let mut actions = Actions::default();
    for (id, instr) in body.all_instrs() {
        match &instr.op {
            Op::MonitorEnter { object } | Op::MonitorExit { object } => {
                let enter = matches!(instr.op, Op::MonitorEnter { .. });
                let lock = LockRef {
                    kind: LockKind::Monitor,
                    mode: LockMode::Exclusive,
                    value: Some(*object),
                    path: vocabulary.path(body, *object),
                };
                let act = if enter { Act::Acquire } else { Act::Release };
                actions.insert(
                    id,
                    smallvec![Action {
                        act,
                        lock: Some(lock)
                    }],
                );
            }
            Op::Invoke { kind, method, args } => {
                let word = vocabulary.words.get(method);
                let action = match (word, args.first()) {
                    (Some(word), Some(receiver)) if *kind != InvokeKind::Static => {
                        vocabulary.action(body, *word, *receiver)
                    }
                    _ => None,
                };
                let done: SmallVec<[Action; 1]> = match action {
                    Some(action) => smallvec![action],
                    None if word.is_some() => continue,
                    None => known.of_call(body, args, &|| callees(id)),
                };
                if !done.is_empty() {
                    actions.insert(id, done);
                }
            }
            _ => {}
        }
    }
    actions
}

/// Whether a value is zero.
pub(super) fn is_zero(body: &Body, value: ValueId) -> bool {
    matches!(
        body.defining(value).map(|instr| &instr.op),
        Some(Op::Const(Const::Long(0) | Const::Int(0)))
    )
}
