//! Which fields never change once others see them.
//!
//! A field is final if every write to it comes before its object is known to other threads, whatever its declaration says.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::ClassKind;
use untorn_program::ir::Op;
use untorn_program::{ClassId, FieldId, MethodId, ValueId};

use super::fresh::{Leaked, Shape};
use super::versions::Key;
use super::world::World;

/// What is known of the fields.
#[derive(Debug, Default)]
pub struct FieldFacts {
    written: FxHashSet<FieldId>,
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
        let hidden = world.is_exposed(field) && !info.flags.is_final();
        if !world.is_translated_class(info.class) {
            return info.flags.is_final() && !info.missing;
        }
        !hidden && !self.written.contains(&field)
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
                    Op::PutField { object, field, .. } => {
                        let confined = is_unknown(shape, *object, fresh_receiver, &leaked)
                            || world.never_escapes(shape.method, *object);
                        if !confined {
                            self.written.insert(*field);
                        }
                    }
                    Op::PutStatic { field, .. }
                        if initializes != Some(classes.field(*field).class) =>
                    {
                        self.written.insert(*field);
                    }
                    _ => {}
                }
                shape.step(&mut leaked, id);
            }
        }
    }
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

/// Whether elements of this type are 64 bits wide.
pub fn has_wide_elements(world: &World<'_>, class: ClassId) -> bool {
    matches!(world.table().class(class).kind, ClassKind::Array(None))
        && matches!(world.table().class_name(class), "[J" | "[D")
}
