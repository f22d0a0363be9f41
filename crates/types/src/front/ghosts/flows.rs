//! Where the references of one method's body come from and go to.

use rustc_hash::FxHashMap;
use untorn_program::classes::{ClassKind, Type};
use untorn_program::ir::{Def, Op};
use untorn_program::{FieldId, InstrId, MethodId, ValueId};

use super::super::content::{related, replaces};
use super::super::fields::FieldFacts;
use super::super::fresh::{Shape, is_clone, library_keeps};
use super::super::names::name;
use super::super::world::World;
use super::{Family, Ghosts, Origin};
use crate::input::{Actuals, Arg, Flow, SlotId};
use crate::locks::{Lock, Locks, Root};

/// One body.
pub struct Scan<'s, 'a> {
    ghosts: &'s mut Ghosts,
    world: &'s World<'a>,
    facts: &'s FieldFacts,
    locks: &'s mut Locks,
    shape: &'s Shape<'a>,
    /// Values that are one: casts, branches, arrays and their elements.
    leader: Vec<ValueId>,
    args: FxHashMap<ValueId, Arg>,
}

impl<'s, 'a> Scan<'s, 'a> {
    pub fn run(
        ghosts: &'s mut Ghosts,
        world: &'s World<'a>,
        facts: &'s FieldFacts,
        locks: &'s mut Locks,
        shape: &'s Shape<'a>,
    ) {
        let values = shape.body.values.len();
        let mut scan = Scan {
            ghosts,
            world,
            facts,
            locks,
            shape,
            leader: (0..values).map(ValueId::new).collect(),
            args: FxHashMap::default(),
        };
        scan.unite();
        scan.params();
        for (id, _) in shape.body.all_instrs() {
            scan.instr(id);
        }
        for index in 0..values {
            let value = ValueId::new(index);
            if scan.family(value).is_some() {
                let arg = scan.arg(value);
                scan.ghosts.values.insert((shape.method, value), arg);
            }
        }
    }

    fn family(&self, value: ValueId) -> Option<Family> {
        self.ghosts.family(self.world, self.shape.body.ty(value))
    }

    fn root(&self, mut value: ValueId) -> ValueId {
        while self.leader[value.index()] != value {
            value = self.leader[value.index()];
        }
        value
    }

    /// Both are one object, or hold the same objects.
    fn join(&mut self, a: ValueId, b: ValueId) {
        if self.family(a).is_some() && self.family(a) == self.family(b) {
            let (a, b) = (self.root(a), self.root(b));
            // The receiver leads, since its argument is fixed.
            self.leader[a.max(b).index()] = a.min(b);
        }
    }

    fn unite(&mut self) {
        for block in &self.shape.body.blocks {
            for phi in &block.phis {
                for &input in &phi.inputs {
                    self.join(phi.result, input);
                }
            }
        }
        for (_, instr) in self.shape.body.all_instrs() {
            match (&instr.op, instr.result) {
                (Op::Cast { value, .. }, Some(result)) => self.join(result, *value),
                (Op::ArrayLoad { array, .. }, Some(result)) => self.join(result, *array),
                (Op::ArrayStore { array, value, .. }, _) => self.join(*array, *value),
                _ => {}
            }
        }
    }

    /// The argument of a value of a family.
    fn arg(&mut self, value: ValueId) -> Arg {
        let value = self.root(value);
        if let Some(&arg) = self.args.get(&value) {
            return arg;
        }
        let Some(family) = self.family(value) else {
            return Arg::Lock(Locks::NONE);
        };
        let arg = if Some(value) == self.shape.body.receiver() {
            let ghost = self.ghosts.by_family[&family];
            Arg::Lock(self.locks.root(Root::Ghost(ghost)))
        } else if let Some(index) = self.declared_param(value, family) {
            let method = self.shape.method;
            let (world, locks) = (self.world, &mut *self.locks);
            Arg::Slot(self.ghosts.param_slot(world, locks, family, method, index))
        } else {
            Arg::Slot(self.ghosts.slot(family, Origin::Value))
        };
        self.args.insert(value, arg);
        arg
    }

    /// The parameter that a value is, if it is declared with the type of the family.
    fn declared_param(&self, value: ValueId, family: Family) -> Option<usize> {
        let Def::Param(position) = self.shape.body.value(value).def else {
            return None;
        };
        let receiver = usize::from(self.shape.body.has_receiver);
        let index = usize::from(position).checked_sub(receiver)?;
        let info = self.world.table().method(self.shape.method);
        let declared = self.ghosts.family(self.world, *info.params.get(index)?);
        (declared == Some(family)).then_some(index)
    }

    fn params(&mut self) {
        let body = self.shape.body;
        let receiver = usize::from(body.has_receiver);
        let params = self.world.table().method(self.shape.method).params.clone();
        for (index, ty) in params.iter().enumerate() {
            let Some(&value) = body.params.get(index + receiver) else {
                continue;
            };
            match self.ghosts.family(self.world, *ty) {
                Some(family) => {
                    let slot = self.ghosts.param_slot(
                        self.world,
                        self.locks,
                        family,
                        self.shape.method,
                        index,
                    );
                    self.same(Arg::Slot(slot), value);
                }
                None => self.strange(value),
            }
        }
        for block in &body.blocks {
            for phi in &block.phis {
                for &input in &phi.inputs {
                    self.mixed(phi.result, input);
                }
            }
        }
    }

    /// The type of one side has no ghost, so neither may have the other's object.
    fn mixed(&mut self, a: ValueId, b: ValueId) {
        let ty = |value| self.shape.body.ty(value);
        if ty(a) == Type::Null || ty(b) == Type::Null || self.family(a) == self.family(b) {
            return;
        }
        self.strange(a);
        self.strange(b);
    }

    /// Nobody knows whose it is.
    fn strange(&mut self, value: ValueId) {
        if self.family(value).is_none() {
            return;
        }
        match self.arg(value) {
            Arg::Slot(slot) => self.ghosts.open[slot.index()].origin = Origin::Nothing,
            _ => self.lose(value),
        }
    }

    fn lose(&mut self, value: ValueId) {
        let family = self.family(value);
        self.ghosts.lost.extend(family);
    }

    /// In the terms of this very method.
    fn same(&mut self, from: Arg, value: ValueId) {
        let to = self.arg(value);
        if from != to {
            let actuals = self.identity();
            self.ghosts.flows.push(Flow { from, actuals, to });
        }
    }

    fn identity(&mut self) -> Actuals {
        let info = self.world.table().method(self.shape.method);
        let mut actuals = vec![(Root::This, Arg::Lock(Locks::THIS))];
        for index in 0..info.params.len() {
            let root = Root::Param(index as u16);
            actuals.push((root, Arg::Lock(self.locks.root(root))));
        }
        let own = self.ghosts.ghost_of(info.class);
        let params = self
            .ghosts
            .params_of(self.shape.method, info.params.len())
            .into_iter()
            .map(|(_, ghost)| ghost);
        for ghost in own.into_iter().chain(params).collect::<Vec<_>>() {
            let root = Root::Ghost(ghost);
            actuals.push((root, Arg::Lock(self.locks.root(root))));
        }
        Actuals(actuals)
    }

    /// The name of an object, if it means the same object as long as the method runs.
    fn steady(&mut self, value: ValueId) -> Arg {
        let lock = name(self.world, self.facts, self.locks, self.shape, value);
        if self.is_steady(lock) {
            Arg::Lock(lock)
        } else {
            Arg::Unknown
        }
    }

    fn is_steady(&self, lock: Lock) -> bool {
        let Root::Local(local) = self.locks.root_of(lock) else {
            return true;
        };
        let body = self.shape.body;
        let block = match body.value(ValueId(local)).def {
            Def::Param(_) => return true,
            Def::Phi(block) => block,
            Def::Instr(instr) => body.instr(instr).block,
        };
        !body.block(block).in_loop
    }

    fn of_field(&mut self, object: Option<ValueId>, field: FieldId) -> Actuals {
        let class = self.world.table().field(field).class;
        let mut actuals = Vec::new();
        if let Some(object) = object {
            actuals.push((Root::This, self.steady(object)));
            if let Some(ghost) = self.ghosts.ghost_of(class) {
                actuals.push((Root::Ghost(ghost), self.arg(object)));
            }
        }
        Actuals(actuals)
    }

    /// A value is put in a field or comes from it.
    fn field(&mut self, object: Option<ValueId>, field: FieldId, value: ValueId) {
        let info = self.world.table().field(field);
        let (class, ty) = (info.class, info.ty);
        let family = self.ghosts.family(self.world, ty);
        if self.shape.body.ty(value) == Type::Null {
            return;
        }
        let exposed = !self.world.is_translated_class(class) || self.world.is_exposed(field);
        match family {
            Some(family) if Some(family) == self.family(value) && !exposed => {
                let slot = self.ghosts.field_slot(family, field);
                let actuals = self.of_field(object, field);
                let to = self.arg(value);
                let from = Arg::Slot(slot);
                self.ghosts.flows.push(Flow { from, actuals, to });
            }
            family => {
                if let Some(family) = family {
                    let slot = self.ghosts.field_slot(family, field);
                    self.ghosts.open[slot.index()].origin = Origin::Nothing;
                }
                self.strange(value);
            }
        }
    }

    fn instr(&mut self, id: InstrId) {
        let instr = self.shape.body.instr(id);
        let result = instr.result.filter(|&r| self.family(r).is_some());
        match &instr.op {
            Op::GetField { object, field } => {
                if let Some(result) = result {
                    self.field(Some(*object), *field, result);
                }
            }
            Op::PutField {
                object,
                field,
                value,
            } => self.field(Some(*object), *field, *value),
            Op::GetStatic { field } => {
                if let Some(result) = result {
                    self.field(None, *field, result);
                }
            }
            Op::PutStatic { field, value } => self.field(None, *field, *value),
            Op::Cast { value, .. } => {
                if let Some(result) = instr.result {
                    self.mixed(result, *value);
                }
            }
            Op::ArrayLoad { array, .. } => {
                if let Some(result) = instr.result {
                    self.mixed_elements(*array, result);
                }
            }
            Op::ArrayStore { array, value, .. } => self.mixed_elements(*array, *value),
            Op::New { .. } => {
                if let Some(result) = result {
                    self.allocated(id, result);
                }
            }
            Op::NewArray { .. } => {}
            Op::Invoke { args, .. } => self.invoke(id, args, instr.result),
            Op::Return { value: Some(value) } => self.returned(*value),
            _ => {
                let mut operands = Vec::new();
                if matches!(
                    instr.op,
                    Op::Lambda { .. } | Op::Dynamic { .. } | Op::Concat { .. } | Op::Throw { .. }
                ) {
                    instr.op.for_each_operand(|value| operands.push(value));
                }
                for value in operands.into_iter().chain(result) {
                    self.strange(value);
                }
            }
        }
    }

    fn mixed_elements(&mut self, array: ValueId, value: ValueId) {
        if self.shape.body.ty(value).is_reference() {
            self.mixed(array, value);
        }
    }

    fn allocated(&mut self, at: InstrId, result: ValueId) {
        let Some(family) = self.family(result) else {
            return;
        };
        let method = self.shape.method;
        if let Arg::Slot(slot) = self.arg(result) {
            let open = &mut self.ghosts.open[slot.index()];
            if open.origin == Origin::Value {
                open.origin = Origin::New(method);
            }
            let class = self.shape.body.ty(result).class();
            if class.is_some_and(|class| self.ghosts.internal.is(class)) {
                self.ghosts.internal_slots.push(slot);
            } else {
                self.ghosts.allocations.push((family, slot));
            }
        }
        let in_loop = self
            .shape
            .body
            .block(self.shape.body.instr(at).block)
            .in_loop;
        if !in_loop {
            let name = self.locks.root(Root::Local(result.0));
            self.ghosts.made.entry(method).or_default().push(name);
        }
    }

    fn returned(&mut self, value: ValueId) {
        let method = self.shape.method;
        if self.shape.body.ty(value) == Type::Null {
            return;
        }
        let ty = self.world.table().method(method).returns;
        let family = ty.and_then(|ty| self.ghosts.family(self.world, ty));
        match family {
            Some(family) if Some(family) == self.family(value) => {
                let slot = self.ghosts.result_slot(self.world, family, method);
                self.same(Arg::Slot(slot), value);
            }
            family => {
                if let Some(family) = family {
                    let slot = self.ghosts.result_slot(self.world, family, method);
                    self.ghosts.open[slot.index()].origin = Origin::Nothing;
                }
                self.strange(value);
            }
        }
    }

    fn invoke(&mut self, at: InstrId, args: &[ValueId], result: Option<ValueId>) {
        let callees = self.world.callees(self.shape.method, at);
        for (position, &arg) in args.iter().enumerate() {
            let kept = callees.hides_flows()
                || callees
                    .library
                    .iter()
                    .any(|&callee| library_keeps(self.world, callee, position));
            // Library code that is given an array may copy its elements to anywhere.
            let copied = !callees.library.is_empty() && self.is_array(arg);
            if kept || copied {
                self.strange(arg);
            }
        }
        if (callees.library.iter()).any(|&callee| is_clone(self.world, callee)) {
            self.copied(at, result);
        }
        if let Some(result) = result
            && (callees.hides_flows() || !callees.library.is_empty())
        {
            self.strange(result);
        }
        for &callee in &callees.translated {
            self.call(callee, args, result);
        }
    }

    fn is_array(&self, value: ValueId) -> bool {
        let class = self.shape.body.ty(value).class();
        class.is_some_and(|class| {
            matches!(self.world.table().class(class).kind, ClassKind::Array(_))
        })
    }

    /// A shallow copy holds what its original holds, so no argument that names the object fits both, unless the copy gets its own before it is known.
    fn copied(&mut self, at: InstrId, result: Option<ValueId>) {
        let classes = self.world.table();
        let own = classes.method(self.shape.method).class;
        for class in related(self.world, own) {
            for &field in &classes.class(class).fields {
                let info = classes.field(field);
                let family = self.ghosts.family(self.world, info.ty);
                let Some(family) = family.filter(|_| !info.flags.is_static()) else {
                    continue;
                };
                if !result.is_some_and(|copy| replaces(self.shape, at, copy, field)) {
                    let slot = self.ghosts.field_slot(family, field);
                    self.ghosts.open[slot.index()].origin = Origin::Nothing;
                }
            }
        }
    }

    fn call(&mut self, callee: MethodId, args: &[ValueId], result: Option<ValueId>) {
        let info = self.world.table().method(callee);
        let (class, is_static, params, returns) = (
            info.class,
            info.flags.is_static(),
            info.params.clone(),
            info.returns,
        );
        let receiver = usize::from(!is_static);
        let mut slots: Vec<(SlotId, ValueId)> = Vec::new();
        for (index, ty) in params.iter().enumerate() {
            let Some(&arg) = args.get(index + receiver) else {
                continue;
            };
            if self.shape.body.ty(arg) == Type::Null || !ty.is_reference() {
                continue;
            }
            let family = self.ghosts.family(self.world, *ty);
            let slot = family.map(|family| {
                self.ghosts
                    .param_slot(self.world, self.locks, family, callee, index)
            });
            match slot {
                Some(slot) if family == self.family(arg) => slots.push((slot, arg)),
                slot => {
                    if let Some(slot) = slot {
                        self.ghosts.open[slot.index()].origin = Origin::Nothing;
                    }
                    self.strange(arg);
                }
            }
        }
        let mut actuals = Vec::new();
        if let Some(&this) = args.first().filter(|_| !is_static) {
            actuals.push((Root::This, self.steady(this)));
            if let Some(ghost) = self.ghosts.ghost_of(class) {
                actuals.push((Root::Ghost(ghost), self.arg(this)));
            }
        }
        for (index, ty) in params.iter().enumerate() {
            if let Some(&arg) = args.get(index + receiver)
                && ty.is_reference()
            {
                actuals.push((Root::Param(index as u16), self.steady(arg)));
            }
        }
        for (index, ghost) in self.ghosts.params_of(callee, params.len()) {
            if let Some(&arg) = args.get(index + receiver) {
                actuals.push((Root::Ghost(ghost), self.arg(arg)));
            }
        }
        let actuals = Actuals(actuals);
        for (slot, arg) in slots {
            let to = self.arg(arg);
            self.ghosts.flows.push(Flow {
                from: Arg::Slot(slot),
                actuals: actuals.clone(),
                to,
            });
        }
        let Some(result) = result else { return };
        let family = returns.and_then(|ty| self.ghosts.family(self.world, ty));
        match family {
            Some(family) if Some(family) == self.family(result) => {
                let slot = self.ghosts.result_slot(self.world, family, callee);
                let to = self.arg(result);
                let from = Arg::Slot(slot);
                self.ghosts.flows.push(Flow { from, actuals, to });
            }
            family => {
                if let Some(family) = family {
                    let slot = self.ghosts.result_slot(self.world, family, callee);
                    self.ghosts.open[slot.index()].origin = Origin::Nothing;
                }
                self.strange(result);
            }
        }
    }
}
