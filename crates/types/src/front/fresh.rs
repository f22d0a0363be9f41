//! Objects that nobody else knows yet: new ones, and the receiver of a constructor, until they leak.
//!
//! A forward analysis along the control flow, with a summary of which parameters a method leaks.
//! Guaranteed: an object counts as fresh only where no other thread can have a reference to it.
//! May over-report: a value that flows into a phi counts as leaked.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Type;
use untorn_program::ir::{Body, Def, Op};
use untorn_program::load::Origin;
use untorn_program::{BlockId, InstrId, MethodId, ValueId};

use super::fixpoint::{Callers, Changed};
use super::models::{Model, Operand, is_value_class};
use super::world::{Callees, World};

/// What translated methods do to references.
#[derive(Debug, Default)]
pub struct Summaries {
    /// Which parameters, the receiver being 0, a method may leak.
    leaks: FxHashSet<(MethodId, usize)>,
    /// Methods whose results are new and known to nobody else.
    gives_new: FxHashSet<MethodId>,
}

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
    /// For what is loaded from a field in which objects keep themselves, the object: they may be one.
    owners: FxHashMap<ValueId, ValueId>,
    states: OnceCell<Vec<Option<Leaked>>>,
}

/// Which fresh values have leaked.
pub type Leaked = FxHashSet<ValueId>;

impl<'a> Shape<'a> {
    pub fn of(world: &World<'a>, method: MethodId, summaries: &Summaries) -> Option<Shape<'a>> {
        let body = world.body(method)?;
        let mut shape = Shape {
            method,
            body,
            canon: (0..body.values.len()).map(ValueId::new).collect(),
            leaking: FxHashMap::default(),
            leaked_at: FxHashMap::default(),
            fresh: FxHashSet::default(),
            owners: FxHashMap::default(),
            states: OnceCell::new(),
        };
        shape.name_faces(world, summaries);
        shape.find_leaks(world, summaries);
        Some(shape)
    }

    pub fn canon(&self, value: ValueId) -> ValueId {
        self.canon[value.index()]
    }

    fn name_faces(&mut self, world: &World<'_>, summaries: &Summaries) {
        for (id, instr) in self.body.all_instrs() {
            let Some(result) = instr.result else { continue };
            match &instr.op {
                Op::Cast { value, .. } => {
                    self.canon[result.index()] = self.canon[value.index()];
                }
                Op::GetField { object, field } if world.self_fields.contains(field) => {
                    self.owners.insert(result, self.canon[object.index()]);
                }
                Op::New { .. } | Op::NewArray { .. } => {
                    self.fresh.insert(result);
                }
                Op::Invoke { args, .. } => {
                    let callees = world.callees(self.method, id);
                    if callees.hides_flows() {
                        continue;
                    }
                    if !callees.translated.is_empty() {
                        let new = callees.translated.iter();
                        let new = new.copied().all(|m| summaries.gives_new.contains(&m));
                        if new && callees.library.is_empty() {
                            self.fresh.insert(result);
                        }
                        continue;
                    }
                    let models: Vec<_> = callees
                        .library
                        .iter()
                        .map(|&callee| world.model(callee))
                        .collect();
                    if models.iter().all(|model| model.is_some_and(|m| m.view)) && !args.is_empty()
                    {
                        self.canon[result.index()] = self.canon[args[0].index()];
                    }
                    let clone = callees
                        .library
                        .iter()
                        .all(|&callee| is_clone(world, callee));
                    // What runs code of an operand may do so again later, as a matcher of somebody's sequence does.
                    let quiet = |model: &Model| {
                        model.calls.iter().all(|operand| {
                            let arg = given(world, &callees.library, *operand, args);
                            arg.is_none_or(|arg| self.is_value(world, arg))
                        })
                    };
                    let new = |model: Option<&'static Model>| {
                        model.is_some_and(|model| model.fresh && quiet(model))
                    };
                    if models.iter().copied().all(new) || clone {
                        self.fresh.insert(result);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether the value is of a class that runs nobody's code.
    fn is_value(&self, world: &World<'_>, value: ValueId) -> bool {
        let class = self.body.ty(value).class();
        class.is_none_or(|class| is_value_class(world.table().class_name(class)))
    }

    /// The value, and the objects that it may be.
    fn and_owners(&self, value: ValueId) -> Vec<ValueId> {
        let mut all = vec![self.canon(value)];
        while let Some(&owner) = all.last().and_then(|last| self.owners.get(last)) {
            if all.contains(&owner) {
                break;
            }
            all.push(owner);
        }
        all
    }

    fn find_leaks(&mut self, world: &World<'_>, summaries: &Summaries) {
        for (id, instr) in self.body.all_instrs() {
            let values: Vec<ValueId> = match &instr.op {
                // Who is unknown stays so by keeping itself.
                Op::PutField { object, value, .. } if self.canon(*object) == self.canon(*value) => {
                    continue;
                }
                Op::PutField { value, .. }
                | Op::PutStatic { value, .. }
                | Op::ArrayStore { value, .. }
                | Op::Return { value: Some(value) }
                | Op::Throw { value } => vec![*value],
                Op::Lambda { args, .. } | Op::Dynamic { args, .. } => args.to_vec(),
                Op::Concat { args } => args.to_vec(),
                Op::Invoke { args, .. } => self.leaked_by_call(world, summaries, id, args),
                _ => continue,
            };
            let values: Vec<ValueId> = values
                .into_iter()
                .filter(|value| self.body.ty(*value).is_reference())
                .flat_map(|value| self.and_owners(value))
                .collect();
            for &value in &values {
                self.leaking.entry(value).or_default().push(Some(id));
            }
            if !values.is_empty() {
                self.leaked_at.insert(id, values);
            }
        }
        for block in &self.body.blocks {
            for phi in &block.phis {
                let inputs = phi.inputs.iter();
                let values: Vec<ValueId> =
                    inputs.flat_map(|&input| self.and_owners(input)).collect();
                for value in values {
                    self.leaking.entry(value).or_default().push(None);
                }
            }
        }
    }

    fn leaked_by_call(
        &self,
        world: &World<'_>,
        summaries: &Summaries,
        at: InstrId,
        args: &[ValueId],
    ) -> Vec<ValueId> {
        let callees = world.callees(self.method, at);
        if callees.hides_flows() {
            return args.to_vec();
        }
        let faced = gives_unnamed_face(world, callees);
        let mut leaked = Vec::new();
        for (position, &arg) in args.iter().enumerate() {
            let kept = faced && position == 0
                || callees
                    .translated
                    .iter()
                    .any(|&callee| summaries.leaks.contains(&(callee, position)))
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

    /// Whether all results are made here, and nothing but the return gives them away.
    fn gives_new(&self) -> bool {
        let mut results = 0;
        for (_, instr) in self.body.all_instrs() {
            let Op::Return { value: Some(value) } = instr.op else {
                continue;
            };
            results += 1;
            if !self.is_only_returned(value) {
                return false;
            }
        }
        results > 0
    }

    /// Whether the value, on whatever branch it comes from, is made here and goes nowhere but into branches that return it.
    fn is_only_returned(&self, value: ValueId) -> bool {
        let mut group = vec![self.canon(value)];
        let mut at = 0;
        while let Some(&value) = group.get(at) {
            at += 1;
            if let Def::Phi(block) = self.body.value(value).def {
                let phis = self.body.block(block).phis.iter();
                let own = phis.filter(|phi| phi.result == value);
                for input in own.flat_map(|phi| &phi.inputs) {
                    let input = self.canon(*input);
                    if !group.contains(&input) {
                        group.push(input);
                    }
                }
            } else if !self.is_made_here(value) {
                return false;
            }
        }
        let returned = |at: InstrId| matches!(self.body.instr(at).op, Op::Return { .. });
        let blocks = || self.body.blocks.iter();
        let outside = || {
            blocks()
                .flat_map(|block| &block.phis)
                .filter(|phi| !group.contains(&phi.result))
        };
        let mut strays = outside().flat_map(|phi| &phi.inputs);
        let stays = group.iter().all(|&value| {
            let mut leaking = self.leaking_uses(value).iter().flatten();
            leaking.all(|&at| returned(at))
        });
        stays && !strays.any(|&input| self.and_owners(input).iter().any(|v| group.contains(v)))
    }

    /// Whether the value is made here, known to nobody else.
    pub fn is_made_here(&self, value: ValueId) -> bool {
        self.fresh.contains(&self.canon(value))
    }

    /// The leaked values at the entry of every block.
    pub fn states(&self) -> &[Option<Leaked>] {
        self.states.get_or_init(|| self.find_states())
    }

    fn find_states(&self) -> Vec<Option<Leaked>> {
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
                    out.extend(phi.inputs.iter().flat_map(|&input| self.and_owners(input)));
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

/// Whether a call may give another face of its first argument, but does not do so whichever method runs: then its result is not taken for that argument.
pub fn gives_unnamed_face(world: &World<'_>, callees: &Callees) -> bool {
    let gives_face = |&callee: &MethodId| world.model(callee).is_some_and(|model| model.view);
    let always = callees.translated.is_empty()
        && !callees.hides_flows()
        && callees.library.iter().all(gives_face);
    !always && callees.library.iter().any(gives_face)
}

/// Whether a library method may keep the argument at this position, the receiver being 0.
pub fn library_keeps(world: &World<'_>, callee: MethodId, position: usize) -> bool {
    if is_clone(world, callee) {
        return false;
    }
    let classes = world.table();
    let info = classes.method(callee);
    let Some(model) = world.model(callee) else {
        // One access to a container keeps what is put into it, not the container.
        let effect = world.program.library().effect(classes, callee);
        let accessed = position == 0
            && !info.flags.is_static()
            && classes.class(info.class).origin == Origin::Jdk
            && effect.is_some_and(|effect| {
                effect.access.is_some() && effect.call.is_empty() && effect.start.is_empty()
            });
        return !accessed;
    };
    // Starting a thread hands it to the thread.
    let effect = world.program.library().effect(classes, callee);
    let receiver = !info.flags.is_static();
    let arg = Operand::Arg(position.wrapping_sub(usize::from(receiver)));
    // Who is asked may tell others of itself.
    let own = if receiver && position == 0 {
        Operand::Receiver
    } else {
        arg
    };
    if model.asks.iter().any(|question| question.operand == own) {
        return true;
    }
    if effect.is_some_and(|effect| !effect.start.is_empty()) && !model.reads.contains(&arg) {
        return true;
    }
    if receiver && position == 0 {
        return false;
    }
    // What is given back may be the argument itself, by another name.
    let result = info.returns.and_then(Type::class);
    let may_be_given_back = !model.fresh
        && !model.view
        && result.is_some_and(|class| !is_value_class(classes.class_name(class)));
    let accessed = model.reads_all || model.reads.contains(&arg) || model.writes.contains(&arg);
    may_be_given_back || (model.keeps && !accessed)
}

/// What a call of these methods gets as the operand of a model.
fn given(
    world: &World<'_>,
    callees: &[MethodId],
    operand: Operand,
    args: &[ValueId],
) -> Option<ValueId> {
    let is_static = (callees.iter()).all(|&c| world.table().method(c).flags.is_static());
    let position = match operand {
        Operand::Receiver => 0,
        Operand::Arg(index) => index + usize::from(!is_static),
    };
    args.get(position).copied()
}

/// Which parameters the translated methods may leak, and which give new objects: two least fixpoints.
pub fn summarize(world: &World<'_>, callers: &Callers) -> Summaries {
    let mut summaries = Summaries::default();
    callers.solve(world, |method| {
        let mut changed = Changed::default();
        let Some(shape) = Shape::of(world, method, &summaries) else {
            return changed;
        };
        for (position, &param) in shape.body.params.iter().enumerate() {
            debug_assert!(matches!(shape.body.value(param).def, Def::Param(_)));
            if shape.body.ty(param).is_reference() && !shape.leaking_uses(param).is_empty() {
                changed.summary |= summaries.leaks.insert((method, position));
            }
        }
        changed
    });
    callers.solve(world, |method| {
        let shape = Shape::of(world, method, &summaries);
        let new = shape.is_some_and(|shape| shape.gives_new());
        Changed {
            summary: new && summaries.gives_new.insert(method),
            own: false,
        }
    });
    summaries
}
