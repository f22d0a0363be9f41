//! What only one thread ever does: accesses to objects that no other thread ever knows, and the locks that are such objects.
//!
//! It rests on points-to sets of the whole program, so it holds in a closed world alone.
//! Guaranteed there: every instruction that accesses such a field, and every `monitorenter` of such a lock, is on an object that its thread made and that no other thread can have a reference to, as far as proofs rest on that too.
//! Bodies that the call graph does not reach count as accesses by others.

use rustc_hash::FxHashSet;
use untorn_program::ir::{Body, Op};
use untorn_program::{FieldId, MethodId, ValueId};

use super::Front;
use super::fields::is_unknown;

/// What is of one thread.
#[derive(Debug, Default)]
pub struct Confined {
    /// Instance fields all of whose accesses are.
    pub fields: FxHashSet<FieldId>,
    /// `monitorenter` instructions by their offsets.
    pub blocks: FxHashSet<(MethodId, u32)>,
    /// Synchronized methods, by their receivers.
    pub methods: FxHashSet<MethodId>,
}

/// What was found to be used, and of that what others may use.
#[derive(Debug, Default)]
struct Uses {
    all: Confined,
    of_others: Confined,
}

impl Front<'_> {
    /// What only one thread ever uses, in a closed world.
    pub fn confined(&self) -> Confined {
        let mut uses = Uses::default();
        let mut reached: FxHashSet<MethodId> = FxHashSet::default();
        for key in &self.keys {
            let Some(shape) = self.shapes.get(&key.method) else {
                continue;
            };
            reached.insert(key.method);
            let states = shape.states();
            for block in shape.body.block_ids() {
                let Some(mut leaked) = states[block.index()].clone() else {
                    continue;
                };
                for (id, instr) in shape.body.block_instrs(block) {
                    let is_confined = |object: ValueId| {
                        is_unknown(shape, object, key.fresh, &leaked)
                            || self.world.never_escapes(key.method, object)
                    };
                    match instr.op {
                        Op::GetField { object, field } | Op::PutField { object, field, .. } => {
                            uses.field(field, is_confined(object));
                        }
                        Op::MonitorEnter { object } => {
                            uses.block((key.method, instr.pc), is_confined(object));
                        }
                        _ => {}
                    }
                    shape.step(&mut leaked, id);
                }
            }
        }
        self.add_unreached(&reached, &mut uses);
        self.add_methods(&reached, &mut uses);
        uses.of_one_thread(self)
    }

    fn add_unreached(&self, reached: &FxHashSet<MethodId>, uses: &mut Uses) {
        let table = self.world.table();
        let methods = table
            .class_ids()
            .flat_map(|class| &table.class(class).methods);
        for &method in methods.filter(|method| !reached.contains(method)) {
            let info = table.method(method);
            if !info.has_code || !self.world.is_translated_class(info.class) {
                continue;
            }
            let body = self.world.body(method);
            for (_, instr) in body.iter().flat_map(|body| body.all_instrs()) {
                match instr.op {
                    Op::GetField { field, .. } | Op::PutField { field, .. } => {
                        uses.field(field, false);
                    }
                    Op::MonitorEnter { .. } => uses.block((method, instr.pc), false),
                    _ => {}
                }
            }
        }
    }

    fn add_methods(&self, reached: &FxHashSet<MethodId>, uses: &mut Uses) {
        let heap = self.world.program.heap();
        for &method in reached {
            let flags = self.world.table().method(method).flags;
            let receiver = self.world.body(method).and_then(Body::receiver);
            let Some(receiver) = receiver.filter(|_| flags.is_synchronized()) else {
                continue;
            };
            let known = !heap.nodes_of(method).is_empty();
            if known && self.world.never_escapes(method, receiver) {
                uses.all.methods.insert(method);
            }
        }
    }
}

impl Uses {
    fn field(&mut self, field: FieldId, is_confined: bool) {
        self.all.fields.insert(field);
        if !is_confined {
            self.of_others.fields.insert(field);
        }
    }

    fn block(&mut self, block: (MethodId, u32), is_confined: bool) {
        self.all.blocks.insert(block);
        if !is_confined {
            self.of_others.blocks.insert(block);
        }
    }

    fn of_one_thread(self, front: &Front<'_>) -> Confined {
        let (mut all, others) = (self.all, self.of_others);
        let table = front.world.table();
        // A finalizer runs in a thread of its own on what nobody else knows any more.
        let finalized: Vec<_> = (table.class_ids())
            .filter(|&class| {
                front.world.is_translated_class(class)
                    && table.declared_method(class, "finalize", "()V").is_some()
            })
            .collect();
        all.fields.retain(|field| {
            let class = table.field(*field).class;
            let is_finalized =
                |&other: &_| table.is_subtype(class, other) || table.is_subtype(other, class);
            !others.fields.contains(field)
                && !front.world.is_exposed(*field)
                && front.world.is_translated_class(class)
                && !finalized.iter().any(is_finalized)
        });
        all.blocks.retain(|block| !others.blocks.contains(block));
        all
    }
}
