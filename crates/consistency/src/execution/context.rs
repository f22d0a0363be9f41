//! Object contexts: what a method's parameters stand for when it is called, and which locks its callers hold.
//!
//! Paper: section 3.2; "for each local reference variable of the callee, the abstract object to which it refers is determined".
//! Points-to sets of a node merge all its calls; here they are narrowed again to what one call passes.
//! Locks held are remembered by access path, so that taking one again is known to be no new critical section.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use untorn_program::heap::{Heap, HeapField};
use untorn_program::ir::{AccessPath, Body, Def, Op, Root, Step};
use untorn_program::library::LockMode;
use untorn_program::locks::{LockKind, LockRef, MethodLock};
use untorn_program::{BlockId, FieldId, NodeId, ObjectId, ValueId};

/// Larger sets of objects are not narrowed: nothing is gained by telling them apart.
const FEW: usize = 16;
/// How far a value is followed back to the parameters.
const DEEPEST: usize = 24;
/// More locks than these are not remembered.
const MOST_HELD: usize = 6;

/// A few objects, ascending.
pub type Objects = SmallVec<[ObjectId; 4]>;

/// A lock that a caller holds, named by the parameters of the called method.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Held {
    kind: LockKind,
    mode: LockMode,
    path: AccessPath,
}

impl Held {
    /// A lock as a body names it.
    pub fn of(lock: &LockRef) -> Self {
        Self {
            kind: lock.kind,
            mode: lock.mode,
            path: lock.path.clone(),
        }
    }

    /// The lock of a synchronized method.
    pub fn of_method(lock: MethodLock) -> Self {
        let root = match lock {
            MethodLock::Receiver => Root::Value(ValueId(0)),
            MethodLock::Class(class) => Root::Class(class),
        };
        Self {
            kind: LockKind::Monitor,
            mode: LockMode::Exclusive,
            path: AccessPath {
                root,
                steps: SmallVec::new(),
            },
        }
    }

    /// Names the lock by the root of its path.
    pub fn drop_steps(&mut self) {
        self.path.steps.clear();
    }

    /// Whether taking `other` while this is held changes nothing.
    pub fn covers(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.path == other.path
            && (self.mode == LockMode::Exclusive || other.mode == LockMode::Shared)
    }

    /// The same lock as a called method names it, given the paths of the arguments.
    fn passed<'p>(
        &'p self,
        args: &'p [AccessPath],
        aliases: &'p [Alias],
    ) -> impl Iterator<Item = Self> + 'p {
        let by_alias = aliases.iter().filter_map(|alias| {
            let rest = self.path.steps.strip_prefix(alias.path.steps.as_slice())?;
            let mut steps: SmallVec<[Step; 2]> = SmallVec::from_slice(&[Step::Field(alias.field)]);
            steps.extend_from_slice(rest);
            (alias.path.root == self.path.root).then(|| Self {
                path: AccessPath {
                    root: Root::Value(ValueId::new(alias.position)),
                    steps,
                },
                ..self.clone()
            })
        });
        let by_argument = args.iter().enumerate().filter_map(|(position, arg)| {
            let rest = self.path.steps.strip_prefix(arg.steps.as_slice())?;
            (arg.root == self.path.root).then(|| Self {
                path: AccessPath {
                    root: Root::Value(ValueId::new(position)),
                    steps: SmallVec::from_slice(rest),
                },
                ..self.clone()
            })
        });
        // What starts at a class has the same name everywhere.
        let global = !matches!(self.path.root, Root::Value(_));
        (by_argument.chain(by_alias)).chain(global.then(|| self.clone()))
    }
}

/// That a field of an argument holds what the caller names by a path.
#[derive(Debug)]
pub struct Alias {
    /// Which argument.
    pub position: usize,
    /// Its field.
    pub field: FieldId,
    /// The caller's name for the same object.
    pub path: AccessPath,
}

/// How a method is called; parameters count from the receiver.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Context {
    /// The objects of each parameter; `None`, or beyond the end: all that the node has.
    pub params: Vec<Option<Objects>>,
    /// The parameters whose constructor is running, as bits.
    pub fresh: u64,
    /// Locks held by callers.
    pub held: Vec<Held>,
}

impl Context {
    /// The same call with all objects its node has: one context for many.
    pub fn widened(&self) -> Self {
        Self {
            params: Vec::new(),
            fresh: self.fresh,
            held: self.held.clone(),
        }
    }

    /// Names the locks held at a call as the called method can.
    pub fn pass_held<'a>(
        &mut self,
        held: impl Iterator<Item = &'a Held>,
        args: &[AccessPath],
        aliases: &[Alias],
    ) {
        for lock in held.flat_map(|lock| lock.passed(args, aliases)) {
            if self.held.len() < MOST_HELD && !self.held.contains(&lock) {
                self.held.push(lock);
            }
        }
    }

    /// Sets the objects of a parameter, unless they are all that its node has anyway.
    pub fn pass_objects(&mut self, heap: &Heap, callee: NodeId, position: usize, objects: Objects) {
        if heap.param_points_to(callee, position).len() <= objects.len() {
            return;
        }
        if self.params.len() <= position {
            self.params.resize(position + 1, None);
        }
        self.params[position] = Some(objects);
    }
}

/// The values of one body in one context.
#[derive(Debug)]
pub struct Values<'a> {
    heap: &'a Heap,
    node: NodeId,
    body: &'a Body,
    context: &'a Context,
    known: FxHashMap<ValueId, Option<Objects>>,
}

impl<'a> Values<'a> {
    /// Nothing is evaluated yet.
    pub fn new(heap: &'a Heap, node: NodeId, body: &'a Body, context: &'a Context) -> Self {
        Self {
            heap,
            node,
            body,
            context,
            known: FxHashMap::default(),
        }
    }

    /// The few objects a value may be here; `None` if they are many: all that the node's value points to.
    pub fn objects(&mut self, value: ValueId) -> Option<Objects> {
        self.follow(value, 0)
    }

    /// Whether a value is the object that a constructor on the call stack is making, named `this` all the way.
    pub fn is_fresh(&self, value: ValueId) -> bool {
        let mut at = value;
        loop {
            match self.body.value(at).def {
                Def::Param(position) => {
                    return position < 64 && self.context.fresh & (1 << position) != 0;
                }
                Def::Instr(instr) => match &self.body.instr(instr).op {
                    Op::Cast { value, .. } => at = *value,
                    _ => return false,
                },
                Def::Phi(_) => return false,
            }
        }
    }

    fn follow(&mut self, value: ValueId, depth: usize) -> Option<Objects> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        // A value that depends on itself is left as the node has it.
        let all = self.all(value);
        self.known.insert(value, all.clone());
        if depth > DEEPEST || all.as_ref().is_some_and(|all| all.len() <= 1) {
            return all;
        }
        let narrowed = match self.body.value(value).def {
            Def::Param(position) => {
                let passed = self.context.params.get(usize::from(position));
                passed.cloned().flatten()
            }
            Def::Phi(block) => self.phi(block, value, depth),
            Def::Instr(instr) => match &self.body.instr(instr).op {
                Op::Cast { value: inner, .. } => {
                    let inner = self.follow(*inner, depth + 1);
                    let own = self.heap.points_to(self.node, value);
                    inner.map(|objects| {
                        let fits = |object: &ObjectId| own.contains(*object);
                        objects.into_iter().filter(fits).collect()
                    })
                }
                Op::GetField { object, field } => {
                    let bases = self.follow(*object, depth + 1);
                    bases.and_then(|bases| self.content(&bases, HeapField::Field(*field)))
                }
                _ => None,
            },
        };
        let result = narrowed.or(all);
        self.known.insert(value, result.clone());
        result
    }

    fn all(&self, value: ValueId) -> Option<Objects> {
        let objects = self.heap.points_to(self.node, value);
        (objects.len() <= FEW).then(|| objects.iter().collect())
    }

    fn phi(&mut self, block: BlockId, value: ValueId, depth: usize) -> Option<Objects> {
        let body = self.body;
        let phi = body
            .block(block)
            .phis
            .iter()
            .find(|phi| phi.result == value)?;
        let mut union = Objects::new();
        for input in &phi.inputs {
            union.extend(self.follow(*input, depth + 1)?);
        }
        ordered(union)
    }

    fn content(&self, bases: &[ObjectId], field: HeapField) -> Option<Objects> {
        let mut union = Objects::new();
        for base in bases {
            let objects = self.heap.field(*base, field);
            if objects.len() > FEW {
                return None;
            }
            union.extend(objects.iter());
        }
        ordered(union)
    }
}

fn ordered(mut objects: Objects) -> Option<Objects> {
    objects.sort_unstable();
    objects.dedup();
    (objects.len() <= FEW).then_some(objects)
}
