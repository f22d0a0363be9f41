//! Lock expressions for values.

use untorn_program::ir::{Body, Const, Def, Op};
use untorn_program::library::LockMode;
use untorn_program::{ClassId, FieldId, MethodId, ValueId};

use super::fields::FieldFacts;
use super::fresh::Shape;
use super::world::{Side, World};
use crate::locks::{FieldName, Lock, Locks, Root};

/// The binary name of a class, as the user writes it.
pub fn dotted(internal: &str) -> String {
    internal.replace('/', ".")
}

/// The field as a step of a path.
pub fn field_name(world: &World<'_>, locks: &mut Locks, field: FieldId) -> FieldName {
    let classes = world.table();
    let owner = dotted(classes.class_name(classes.field(field).class));
    locks.field_name(&owner, classes.field_name(field))
}

/// The class object of a class.
pub fn class_lock(world: &World<'_>, locks: &mut Locks, class: ClassId) -> Lock {
    let name = locks.class(&dotted(world.table().class_name(class)));
    locks.root(Root::Class(name))
}

/// The lock expression of a value; a local of its own if there is no better.
pub fn name(
    world: &World<'_>,
    facts: &FieldFacts,
    locks: &mut Locks,
    shape: &Shape<'_>,
    value: ValueId,
) -> Lock {
    let local = |locks: &mut Locks| locks.root(Root::Local(value.0));
    match shape.body.value(value).def {
        Def::Param(position) => {
            let receiver = u16::from(shape.body.has_receiver);
            match position.checked_sub(receiver) {
                Some(index) => locks.root(Root::Param(index)),
                None => Locks::THIS,
            }
        }
        Def::Phi(_) => local(locks),
        Def::Instr(instr) => match &shape.body.instr(instr).op {
            Op::Cast { value, .. } => name(world, facts, locks, shape, *value),
            Op::Const(Const::Class(class)) => class_lock(world, locks, *class),
            Op::GetField { object, field } if facts.is_final(world, *field) => {
                let base = name(world, facts, locks, shape, *object);
                let step = field_name(world, locks, *field);
                let path = locks.field(base, step);
                path.unwrap_or_else(|| local(locks))
            }
            Op::GetStatic { field } if facts.is_final(world, *field) => {
                let base = class_lock(world, locks, world.table().field(*field).class);
                let step = field_name(world, locks, *field);
                let path = locks.field(base, step);
                path.unwrap_or_else(|| local(locks))
            }
            _ => local(locks),
        },
    }
}

/// An explicit lock as a body names it.
#[derive(Debug, Clone, Copy)]
pub struct Explicit {
    pub lock: Lock,
    /// Known to exclude others, so that it may guard; else it only takes part in reduction.
    pub excludes: bool,
}

const REENTRANT: &str = "java/util/concurrent/locks/ReentrantLock";
const READ_WRITE: &str = "java/util/concurrent/locks/ReentrantReadWriteLock";
const STAMPED: &str = "java/util/concurrent/locks/StampedLock";

/// The lock behind the receiver of `lock` or `unlock`.
pub fn explicit(
    world: &World<'_>,
    facts: &FieldFacts,
    locks: &mut Locks,
    shape: &Shape<'_>,
    receiver: ValueId,
    own: LockMode,
) -> Explicit {
    if let Some(kept) = kept_side(world, facts, locks, shape, receiver) {
        return kept;
    }
    let (value, mode) = underlying(world, shape, receiver);
    let stamped = is_stamped(world, shape.body.ty(value).class());
    let wanted = match mode {
        Some(_) => READ_WRITE,
        None if stamped => STAMPED,
        None => REENTRANT,
    };
    let mode = mode.or(stamped.then_some(own));
    let excludes = is_exactly(world, shape.method, shape.body, value, wanted);
    // A cast hides that one object is locked in two ways.
    let hidden = matches!(
        shape.body.defining(value).map(|i| &i.op),
        Some(Op::Cast { .. })
    );
    let plain = if hidden {
        locks.root(Root::Local(value.0))
    } else {
        name(world, facts, locks, shape, value)
    };
    let lock = match mode {
        Some(LockMode::Shared) => locks.shared(plain),
        _ => plain,
    };
    Explicit { lock, excludes }
}

/// A side of a read-write lock that the lock's owner keeps in a field.
fn kept_side(
    world: &World<'_>,
    facts: &FieldFacts,
    locks: &mut Locks,
    shape: &Shape<'_>,
    receiver: ValueId,
) -> Option<Explicit> {
    let Op::GetField { object, field } = shape.body.defining(receiver)?.op else {
        return None;
    };
    let Side {
        of: both,
        mode,
        of_platform: excludes,
    } = world.side(field)?;
    if !facts.is_final(world, field) || !facts.is_final(world, both) {
        return None;
    }
    let base = name(world, facts, locks, shape, object);
    let step = field_name(world, locks, both);
    let plain = locks.field(base, step)?;
    let lock = match mode {
        LockMode::Shared => locks.shared(plain),
        LockMode::Exclusive => plain,
    };
    Some(Explicit { lock, excludes })
}

/// Whether a class is the lock that gives stamps.
pub fn is_stamped(world: &World<'_>, class: Option<ClassId>) -> bool {
    class.is_some_and(|class| world.table().class_name(class) == STAMPED)
}

fn underlying(world: &World<'_>, shape: &Shape<'_>, value: ValueId) -> (ValueId, Option<LockMode>) {
    let view = |method: MethodId| {
        let effect = world.program.library().effect(world.table(), method);
        effect.and_then(|effect| effect.view)
    };
    match shape.body.defining(value).map(|instr| &instr.op) {
        Some(Op::Invoke { method, args, .. }) if args.len() == 1 => match view(*method) {
            Some(mode) => (args[0], Some(mode)),
            None => (value, None),
        },
        _ => (value, None),
    }
}

/// Whether a value is a read-write lock of the platform.
pub fn is_read_write(world: &World<'_>, method: MethodId, body: &Body, value: ValueId) -> bool {
    is_exactly(world, method, body, value, READ_WRITE)
}

/// Whether a value can only be of this very library class, or of one that extends it and locks no otherwise.
fn is_exactly(
    world: &World<'_>,
    method: MethodId,
    body: &Body,
    value: ValueId,
    class: &str,
) -> bool {
    let classes = world.table();
    let of = body.ty(value).class();
    if of.is_some_and(|of| classes.class_name(of) == class || world.locks_as(of, class)) {
        return true;
    }
    let heap = world.program.heap();
    let nodes = heap.nodes_of(method);
    !nodes.is_empty()
        && nodes.iter().all(|&node| {
            let objects = heap.points_to(node, value);
            !objects.is_empty()
                && objects.iter().all(|object| {
                    let object = heap.object(object);
                    let of = object.class;
                    (classes.class_name(of) == class || world.locks_as(of, class))
                        && matches!(
                            object.kind,
                            untorn_program::heap::ObjectKind::Allocated { .. }
                                | untorn_program::heap::ObjectKind::AnyOf
                        )
                })
        })
}

/// Whether the plain name of such an object means its explicit lock.
pub fn is_lock_class(world: &World<'_>, class: ClassId) -> bool {
    let classes = world.table();
    classes.supertypes(class).iter().any(|&above| {
        matches!(
            classes.class_name(above),
            "java/util/concurrent/locks/Lock"
                | "java/util/concurrent/locks/ReadWriteLock"
                | "java/util/concurrent/locks/StampedLock"
        )
    })
}
