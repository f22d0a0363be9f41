//! Which fields never change once others see them, and which own their array or collection.
//!
//! A field is final if every write to it comes before its object is known to other threads, whatever its declaration says.
//! It owns what it refers to if only new, unknown objects are ever stored in it and what is loaded from it never goes elsewhere: then everybody who accesses the elements came through the field of one object, and a lock that guards the elements for that object guards them for all.
//! A shallow copy shares what its original owns, unless it gets one of its own before it is known.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::{ClassKind, Type};
use untorn_program::ir::{Const, Def, Op};
use untorn_program::{ClassId, FieldId, InstrId, MethodId, ValueId};

use super::fresh::{Leaked, Shape, is_clone};
use super::versions::Key;
use super::world::World;

/// What is known of the fields.
#[derive(Debug, Default)]
pub struct FieldFacts {
    written: FxHashSet<FieldId>,
    shared_content: FxHashSet<FieldId>,
}

/// Through which field an array or collection was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The object whose field it is; nothing for a static field.
    pub object: Option<ValueId>,
    pub field: FieldId,
}

impl FieldFacts {
    pub fn find(
        world: &World<'_>,
        shapes: &FxHashMap<MethodId, Shape<'_>>,
        keys: &[Key],
    ) -> FieldFacts {
        let mut facts = FieldFacts::default();
        for key in keys {
            if let Some(shape) = shapes.get(&key.method) {
                facts.scan(world, shape, key.fresh);
            }
        }
        facts
    }

    /// Never written once other threads know the object.
    pub fn is_final(&self, world: &World<'_>, field: FieldId) -> bool {
        let info = world.table().field(field);
        let hidden = world.exposed.contains(&info.class) && !info.flags.is_final();
        if !world.is_translated_class(info.class) {
            return info.flags.is_final() && !info.missing;
        }
        !hidden && !self.written.contains(&field)
    }

    /// Whether a guard of the content may be sought.
    pub fn owns_content(&self, world: &World<'_>, field: FieldId) -> bool {
        let info = world.table().field(field);
        world.is_translated_class(info.class)
            && !world.exposed.contains(&info.class)
            && info.ty.class().is_some()
            && !self.shared_content.contains(&field)
    }

    fn scan(&mut self, world: &World<'_>, shape: &Shape<'_>, fresh_receiver: bool) {
        let classes = world.table();
        let states = shape.states();
        let initializes = classes
            .is_class_initializer(shape.method)
            .then(|| classes.method(shape.method).class);
        for block in shape.body.block_ids() {
            let Some(mut leaked) = states[block.index()].clone() else {
                continue;
            };
            for (id, instr) in shape.body.block_instrs(block) {
                match &instr.op {
                    Op::PutField {
                        object,
                        field,
                        value,
                    } => {
                        let confined = is_unknown(shape, *object, fresh_receiver, &leaked)
                            || world.never_escapes(shape.method, *object);
                        if !confined {
                            self.written.insert(*field);
                        }
                        self.stored(shape, id, *field, *value, &leaked);
                    }
                    Op::PutStatic { field, value } => {
                        if initializes != Some(classes.field(*field).class) {
                            self.written.insert(*field);
                        }
                        self.stored(shape, id, *field, *value, &leaked);
                    }
                    Op::GetField { field, .. } | Op::GetStatic { field } => {
                        let result = instr.result.filter(|r| shape.body.ty(*r).is_reference());
                        if result.is_some_and(|r| !shape.leaking_uses(r).is_empty()) {
                            self.shared_content.insert(*field);
                        }
                    }
                    Op::Invoke { .. } => {
                        let callees = world.callees(shape.method, id);
                        if callees
                            .library
                            .iter()
                            .any(|&callee| is_clone(world, callee))
                        {
                            self.cloned(world, shape, id, instr.result);
                        }
                    }
                    _ => {}
                }
                shape.step(&mut leaked, id);
            }
        }
    }

    /// Only a new object that goes nowhere else is owned.
    fn stored(
        &mut self,
        shape: &Shape<'_>,
        at: InstrId,
        field: FieldId,
        value: ValueId,
        leaked: &Leaked,
    ) {
        if !shape.body.ty(value).is_reference() {
            return;
        }
        let value = shape.canon(value);
        if is_null(shape, value) {
            return;
        }
        let only_here = matches!(shape.leaking_uses(value), [Some(one)] if *one == at);
        let once = match shape.body.value(value).def {
            Def::Instr(made) => {
                let (made, put) = (shape.body.instr(made).block, shape.body.instr(at).block);
                made == put || !shape.body.block(put).in_loop
            }
            _ => false,
        };
        if !(only_here && once && shape.is_made_here(value) && !leaked.contains(&value)) {
            self.shared_content.insert(field);
        }
    }

    /// The copy must get its own content in every field, before anyone knows it and on every path.
    fn cloned(
        &mut self,
        world: &World<'_>,
        shape: &Shape<'_>,
        at: InstrId,
        result: Option<ValueId>,
    ) {
        let classes = world.table();
        let own = classes.method(shape.method).class;
        for class in related(world, own) {
            for &field in &classes.class(class).fields {
                let info = classes.field(field);
                if info.flags.is_static() || info.ty.class().is_none() {
                    continue;
                }
                let replaced = result.is_some_and(|copy| replaces(shape, at, copy, field));
                if !replaced {
                    self.shared_content.insert(field);
                }
            }
        }
    }
}

/// Whether the copy made at an instruction gets its own value of a field before it can leak or the field is read: within straight-line code.
fn replaces(shape: &Shape<'_>, at: InstrId, copy: ValueId, field: FieldId) -> bool {
    let copy = shape.canon(copy);
    let mut block = shape.body.instr(at).block;
    let mut from = at.index() + 1;
    let mut visited = FxHashSet::default();
    while visited.insert(block) {
        for index in from..shape.body.block(block).end.index() {
            let instr = &shape.body.instrs[index];
            if let Op::PutField {
                object, field: put, ..
            } = &instr.op
                && *put == field
                && shape.canon(*object) == copy
            {
                return true;
            }
            let loads = matches!(&instr.op, Op::GetField { object, field: got } if *got == field && shape.canon(*object) == copy);
            if loads
                || shape
                    .leaking_uses(copy)
                    .contains(&Some(InstrId::new(index)))
            {
                return false;
            }
        }
        let [next] = shape.body.block(block).succs[..] else {
            return false;
        };
        block = next;
        from = shape.body.block(block).first.index();
    }
    false
}

/// The class, its superclasses and its known subclasses.
pub fn related(world: &World<'_>, class: ClassId) -> Vec<ClassId> {
    let classes = world.table();
    classes
        .class_ids()
        .filter(|&other| {
            world.is_translated_class(other)
                && (classes.is_subtype(class, other) || classes.is_subtype(other, class))
        })
        .collect()
}

/// Whether nobody else knows the object here: it is new, or the receiver of a constructor.
pub fn is_unknown(
    shape: &Shape<'_>,
    value: ValueId,
    fresh_receiver: bool,
    leaked: &Leaked,
) -> bool {
    let value = shape.canon(value);
    let new = shape.is_made_here(value) || (fresh_receiver && Some(value) == shape.body.receiver());
    new && !leaked.contains(&value)
}

fn is_null(shape: &Shape<'_>, value: ValueId) -> bool {
    shape.body.ty(value) == Type::Null
        || matches!(
            shape.body.defining(value).map(|instr| &instr.op),
            Some(Op::Const(Const::Null))
        )
}

/// The field through which an array or collection was reached, or in which it was put.
pub fn origin(shape: &Shape<'_>, value: ValueId) -> Option<Origin> {
    let value = shape.canon(value);
    match shape.body.defining(value).map(|instr| &instr.op) {
        Some(Op::GetField { object, field }) => {
            return Some(Origin {
                object: Some(*object),
                field: *field,
            });
        }
        Some(Op::GetStatic { field }) => {
            return Some(Origin {
                object: None,
                field: *field,
            });
        }
        _ => {}
    }
    let [Some(put)] = shape.leaking_uses(value) else {
        return None;
    };
    match &shape.body.instr(*put).op {
        Op::PutField { object, field, .. } => Some(Origin {
            object: Some(*object),
            field: *field,
        }),
        Op::PutStatic { field, .. } => Some(Origin {
            object: None,
            field: *field,
        }),
        _ => None,
    }
}

/// Whether elements of this type are 64 bits wide.
pub fn has_wide_elements(world: &World<'_>, class: ClassId) -> bool {
    matches!(world.table().class(class).kind, ClassKind::Array(None))
        && matches!(world.table().class_name(class), "[J" | "[D")
}
