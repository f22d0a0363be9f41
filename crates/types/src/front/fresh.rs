//! Objects that nobody else knows yet: new ones, and the receiver of a constructor, until they leak.
//!
//! A forward analysis along the control flow, with a summary of which parameters a method leaks.
//! Guaranteed: an object counts as fresh only where no other thread can have a reference to it.
//! May over-report: a value that flows into a phi counts as leaked.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Type;
use untorn_program::ir::{Body, Def, Op};
use untorn_program::{BlockId, InstrId, MethodId, ValueId};

use super::models::{Operand, is_value_class};
use super::world::World;

/// Which parameters, the receiver being 0, a translated method may leak.
pub type Leaks = FxHashSet<(MethodId, usize)>;

/// A body with its values as the translator sees them.
#[derive(Debug)]
pub struct Shape<'a> {
    pub method: MethodId,
    pub body: &'a Body,
    /// The value that each value is but another face of.
    canon: Vec<ValueId>,
    /// For each value the instructions that leak it; `None` is a phi.
    leaking: FxHashMap<ValueId, Vec<Option<InstrId>>>,
    /// For each instruction the values it leaks.
    leaked_at: FxHashMap<InstrId, Vec<ValueId>>,
    fresh: FxHashSet<ValueId>,
}

/// Which fresh values have leaked.
pub type Leaked = FxHashSet<ValueId>;

impl<'a> Shape<'a> {
    pub fn of(world: &World<'a>, method: MethodId, leaks: &Leaks) -> Option<Shape<'a>> {
        let body = world.body(method)?;
        let mut shape = Shape {
            method,
            body,
            canon: (0..body.values.len()).map(ValueId::new).collect(),
            leaking: FxHashMap::default(),
            leaked_at: FxHashMap::default(),
            fresh: FxHashSet::default(),
        };
        shape.name_faces(world);
        shape.find_leaks(world, leaks);
        Some(shape)
    }

    pub fn canon(&self, value: ValueId) -> ValueId {
        self.canon[value.index()]
    }

    fn name_faces(&mut self, world: &World<'_>) {
        for (id, instr) in self.body.all_instrs() {
            let Some(result) = instr.result else { continue };
            match &instr.op {
                Op::Cast { value, .. } => {
                    self.canon[result.index()] = self.canon[value.index()];
                }
                Op::New { .. } | Op::NewArray { .. } => {
                    self.fresh.insert(result);
                }
                Op::Invoke { args, .. } => {
                    let callees = world.callees(self.method, id);
                    if callees.unknown || !callees.translated.is_empty() {
                        continue;
                    }
                    let models: Vec<_> = callees
                        .library
                        .iter()
                        .map(|&callee| world.models.find(world.table(), callee))
                        .collect();
                    if models.iter().all(|model| model.is_some_and(|m| m.view)) && !args.is_empty()
                    {
                        self.canon[result.index()] = self.canon[args[0].index()];
                    }
                    let clone = callees
                        .library
                        .iter()
                        .all(|&callee| is_clone(world, callee));
                    if models.iter().all(|model| model.is_some_and(|m| m.fresh)) || clone {
                        self.fresh.insert(result);
                    }
                }
                _ => {}
            }
        }
    }

    fn find_leaks(&mut self, world: &World<'_>, leaks: &Leaks) {
        for (id, instr) in self.body.all_instrs() {
            let mut values: Vec<ValueId> = match &instr.op {
                Op::PutField { value, .. }
                | Op::PutStatic { value, .. }
                | Op::ArrayStore { value, .. }
                | Op::Return { value: Some(value) }
                | Op::Throw { value } => vec![*value],
                Op::Lambda { args, .. } | Op::Dynamic { args, .. } => args.to_vec(),
                Op::Concat { args } => args.to_vec(),
                Op::Invoke { args, .. } => self.leaked_by_call(world, leaks, id, args),
                _ => continue,
            };
            values.retain(|value| self.body.ty(*value).is_reference());
            for value in &mut values {
                *value = self.canon(*value);
            }
            for &value in &values {
                self.leaking.entry(value).or_default().push(Some(id));
            }
            if !values.is_empty() {
                self.leaked_at.insert(id, values);
            }
        }
        for block in &self.body.blocks {
            for phi in &block.phis {
                for &input in &phi.inputs {
                    let value = self.canon[input.index()];
                    self.leaking.entry(value).or_default().push(None);
                }
            }
        }
    }

    fn leaked_by_call(
        &self,
        world: &World<'_>,
        leaks: &Leaks,
        at: InstrId,
        args: &[ValueId],
    ) -> Vec<ValueId> {
        let callees = world.callees(self.method, at);
        if callees.unknown {
            return args.to_vec();
        }
        let mut leaked = Vec::new();
        for (position, &arg) in args.iter().enumerate() {
            let kept = callees
                .translated
                .iter()
                .any(|&callee| leaks.contains(&(callee, position)))
                || callees
                    .library
                    .iter()
                    .any(|&callee| library_keeps(world, callee, position));
            if kept {
                leaked.push(arg);
            }
        }
        leaked
    }

    /// Where a value leaks.
    pub fn leaking_uses(&self, value: ValueId) -> &[Option<InstrId>] {
        self.leaking
            .get(&self.canon(value))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether the value is made here, known to nobody else.
    pub fn is_made_here(&self, value: ValueId) -> bool {
        self.fresh.contains(&self.canon(value))
    }

    /// The leaked values at the entry of every block.
    pub fn states(&self) -> Vec<Option<Leaked>> {
        let mut states: Vec<Option<Leaked>> = vec![None; self.body.blocks.len()];
        if let Some(entry) = states.first_mut() {
            *entry = Some(Leaked::default());
        }
        let mut work = vec![BlockId::new(0)];
        while let Some(at) = work.pop() {
            let Some(mut state) = states[at.index()].clone() else {
                continue;
            };
            let block = self.body.block(at);
            // An exception may leave at any instruction: what leaks anywhere in the block may have leaked.
            let mut thrown = state.clone();
            for (id, _) in self.body.block_instrs(at) {
                self.step(&mut state, id);
                thrown.extend(state.iter().copied());
            }
            for (target, normal) in block
                .succs
                .iter()
                .map(|b| (*b, true))
                .chain(block.handlers.iter().map(|h| (h.block, false)))
            {
                let mut out = if normal {
                    state.clone()
                } else {
                    thrown.clone()
                };
                for phi in &self.body.block(target).phis {
                    out.extend(phi.inputs.iter().map(|&input| self.canon(input)));
                }
                let known = &mut states[target.index()];
                let before = known.as_ref().map(Leaked::len);
                let joined = known.get_or_insert_default();
                joined.extend(out);
                if before != Some(joined.len()) {
                    work.push(target);
                }
            }
        }
        states
    }

    /// What an instruction makes and leaks.
    pub fn step(&self, leaked: &mut Leaked, at: InstrId) {
        if let Some(values) = self.leaked_at.get(&at) {
            leaked.extend(values.iter().copied());
        }
        // A loop makes a new object each time.
        if let Some(result) = self.body.instr(at).result
            && self.fresh.contains(&result)
        {
            leaked.remove(&result);
        }
    }
}

/// `Object.clone` itself.
pub fn is_clone(world: &World<'_>, method: MethodId) -> bool {
    let classes = world.table();
    classes.method(method).class == classes.well_known.object
        && classes.method_name(method) == "clone"
}

/// Whether a library method may keep the argument at this position, the receiver being 0.
pub fn library_keeps(world: &World<'_>, callee: MethodId, position: usize) -> bool {
    if is_clone(world, callee) {
        return false;
    }
    let classes = world.table();
    let Some(model) = world.models.find(classes, callee) else {
        return true;
    };
    let info = classes.method(callee);
    // Starting a thread hands it to the thread.
    let effect = world.program.library().effect(classes, callee);
    if effect.is_some_and(|effect| !effect.start.is_empty()) {
        return true;
    }
    let receiver = !info.flags.is_static();
    if receiver && position == 0 {
        return false;
    }
    // What is given back may be the argument itself, by another name.
    let result = info.returns.and_then(Type::class);
    let may_be_given_back = !model.fresh
        && !model.view
        && result.is_some_and(|class| !is_value_class(classes.class_name(class)));
    let arg = Operand::Arg(position - usize::from(receiver));
    let accessed = model.reads.contains(&arg) || model.writes.contains(&arg);
    may_be_given_back || (model.keeps && !accessed)
}

/// Which parameters the translated methods may leak: a least fixpoint.
pub fn find_leaks(world: &World<'_>) -> Leaks {
    let mut leaks = Leaks::default();
    loop {
        let before = leaks.len();
        for &method in &world.methods {
            let Some(shape) = Shape::of(world, method, &leaks) else {
                continue;
            };
            for (position, &param) in shape.body.params.iter().enumerate() {
                debug_assert!(matches!(shape.body.value(param).def, Def::Param(_)));
                if shape.body.ty(param).is_reference() && !shape.leaking_uses(param).is_empty() {
                    leaks.insert((method, position));
                }
            }
        }
        if leaks.len() == before {
            return leaks;
        }
    }
}
