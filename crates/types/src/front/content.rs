//! Which fields own their array or collection, and through which field an array or collection was reached.
//!
//! A field owns what it refers to if only new objects are ever put in it, each in one place, and what is loaded from it goes nowhere else: then everybody who accesses the elements came through the field of one object, and a lock that guards the elements for that object guards them for all.
//! Arrays may pass through branches, parameters and results of methods that only translated code calls.
//! A shallow copy shares what its original owns, unless it gets content of its own before it is known.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Type;
use untorn_program::ir::{Const, Def, Op, Test};
use untorn_program::{ClassId, FieldId, InstrId, MethodId, ValueId};

use super::fixpoint::{Callers, Changed};
use super::fresh::{Shape, gives_unnamed_face, is_clone, library_keeps};
use super::world::World;

/// Where an array or collection came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// From a field of this object, or of a class.
    Field(Option<ValueId>, FieldId),
    /// From the caller.
    Param(usize),
    /// Made here, or by a callee that kept nothing of it.
    Made(ValueId),
    /// From anywhere.
    Other,
}

/// Where the result of a method comes from, in its own terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Given {
    ThisField(FieldId),
    StaticField(FieldId),
    Param(usize),
    New,
    Other,
}

/// Where a field's content was given away.
pub type Spilled = FxHashMap<FieldId, (MethodId, u16)>;

/// The whole relation.
#[derive(Debug, Default)]
pub struct Content {
    shared: Spilled,
    spilled_params: FxHashSet<(MethodId, usize)>,
    given: FxHashMap<MethodId, FxHashSet<Given>>,
    /// For each new object the instructions that give it away.
    spills: FxHashMap<(MethodId, ValueId), Vec<InstrId>>,
    /// What the method that is looked at has changed.
    changed: Changed,
}

impl Content {
    pub fn find(
        world: &World<'_>,
        callers: &Callers,
        shapes: &FxHashMap<MethodId, Shape<'_>>,
    ) -> Content {
        let mut content = Content::default();
        callers.solve(world, |method| {
            content.changed = Changed::default();
            if let Some(shape) = shapes.get(&method) {
                content.scan(world, shape);
            }
            content.changed
        });
        for &method in &world.methods {
            if let Some(shape) = shapes.get(&method) {
                content.check_puts(world, shape);
            }
        }
        content
    }

    /// Whether a guard of the content may be sought.
    pub fn owns(&self, world: &World<'_>, field: FieldId) -> bool {
        let info = world.table().field(field);
        world.is_translated_class(info.class)
            && !world.is_exposed(field)
            && info.ty.class().is_some()
            && !self.shared.contains_key(&field)
    }

    /// Where the content of a field was given away.
    pub fn spilled(&self) -> &Spilled {
        &self.shared
    }

    fn share(&mut self, field: FieldId, shape: &Shape<'_>, at: Option<InstrId>) {
        let line = at.map_or(0, |at| shape.body.instr(at).line);
        self.shared.entry(field).or_insert((shape.method, line));
    }

    /// All sources of a value.
    pub fn sources(
        &self,
        world: &World<'_>,
        shape: &Shape<'_>,
        value: ValueId,
    ) -> FxHashSet<Source> {
        let mut found = FxHashSet::default();
        let mut visited = FxHashSet::default();
        self.trace(world, shape, value, &mut visited, &mut found);
        found
    }

    fn trace(
        &self,
        world: &World<'_>,
        shape: &Shape<'_>,
        value: ValueId,
        visited: &mut FxHashSet<ValueId>,
        found: &mut FxHashSet<Source>,
    ) {
        let value = shape.canon(value);
        if !visited.insert(value) {
            return;
        }
        let body = shape.body;
        if body.ty(value) == Type::Null {
            return;
        }
        let instr = match body.value(value).def {
            Def::Param(position) => {
                found.insert(Source::Param(usize::from(position)));
                return;
            }
            Def::Phi(block) => {
                let phi = body
                    .block(block)
                    .phis
                    .iter()
                    .find(|phi| phi.result == value);
                for &input in phi.into_iter().flat_map(|phi| &phi.inputs) {
                    self.trace(world, shape, input, visited, found);
                }
                return;
            }
            Def::Instr(instr) => instr,
        };
        if shape.is_made_here(value) {
            found.insert(self.made(shape, value));
            return;
        }
        match &body.instr(instr).op {
            Op::Const(Const::Null) => {}
            Op::GetField { object, field } => {
                found.insert(Source::Field(Some(*object), *field));
            }
            Op::GetStatic { field } => {
                found.insert(Source::Field(None, *field));
            }
            Op::Invoke { args, .. } => {
                let callees = world.callees(shape.method, instr);
                if callees.hides_flows() || !callees.library.is_empty() {
                    found.insert(Source::Other);
                    return;
                }
                for callee in &callees.translated {
                    for given in self.given.get(callee).into_iter().flatten() {
                        match *given {
                            Given::ThisField(field) => {
                                found.insert(Source::Field(args.first().copied(), field));
                            }
                            Given::StaticField(field) => {
                                found.insert(Source::Field(None, field));
                            }
                            Given::Param(position) => match args.get(position) {
                                Some(&arg) => self.trace(world, shape, arg, visited, found),
                                None => {
                                    found.insert(Source::Other);
                                }
                            },
                            Given::New => {
                                found.insert(self.made(shape, value));
                            }
                            Given::Other => {
                                found.insert(Source::Other);
                            }
                        }
                    }
                }
            }
            _ => {
                found.insert(Source::Other);
            }
        }
    }

    /// A new object that was put in one field is that field's from then on.
    fn made(&self, shape: &Shape<'_>, value: ValueId) -> Source {
        let spills = self
            .spills
            .get(&(shape.method, value))
            .map_or(&[][..], Vec::as_slice);
        match spills {
            [] => Source::Made(value),
            [one] => match shape.body.instr(*one).op {
                Op::PutField { object, field, .. } => Source::Field(Some(object), field),
                Op::PutStatic { field, .. } => Source::Field(None, field),
                _ => Source::Other,
            },
            _ => Source::Other,
        }
    }

    fn scan(&mut self, world: &World<'_>, shape: &Shape<'_>) {
        let open = world.is_open(shape.method);
        for (id, instr) in shape.body.all_instrs() {
            let spilled: Vec<ValueId> = match &instr.op {
                Op::PutField { value, .. }
                | Op::PutStatic { value, .. }
                | Op::ArrayStore { value, .. }
                | Op::Throw { value } => vec![*value],
                Op::Return { value: Some(value) } => {
                    if shape.body.ty(*value).is_reference() {
                        self.gives(world, shape, *value);
                    }
                    if open { vec![*value] } else { continue }
                }
                Op::Lambda { args, .. } | Op::Dynamic { args, .. } | Op::Concat { args } => {
                    args.to_vec()
                }
                Op::Invoke { args, .. } => {
                    let callees = world.callees(shape.method, id);
                    if callees
                        .library
                        .iter()
                        .any(|&callee| is_clone(world, callee))
                    {
                        self.cloned(world, shape, id, instr.result);
                    }
                    let faced = gives_unnamed_face(world, callees);
                    args.iter()
                        .enumerate()
                        .filter(|(position, _)| {
                            callees.hides_flows()
                                || faced && *position == 0
                                || callees
                                    .translated
                                    .iter()
                                    .any(|&c| self.spilled_params.contains(&(c, *position)))
                                || callees
                                    .library
                                    .iter()
                                    .any(|&c| library_keeps(world, c, *position))
                        })
                        .map(|(_, &arg)| arg)
                        .collect()
                }
                _ => continue,
            };
            for value in spilled {
                if shape.body.ty(value).is_reference() {
                    self.spill(world, shape, id, value);
                }
            }
        }
        self.check_names(world, shape);
    }

    fn spill(&mut self, world: &World<'_>, shape: &Shape<'_>, at: InstrId, value: ValueId) {
        // The object itself, before any put turns it into a field's.
        let mut visited = FxHashSet::default();
        for made in made_behind(shape, value, &mut visited) {
            let list = self.spills.entry((shape.method, made)).or_default();
            if !list.contains(&at) {
                list.push(at);
                self.changed.own = true;
            }
        }
        for source in self.sources(world, shape, value) {
            match source {
                Source::Field(_, field) => {
                    let own = matches!(shape.body.instr(at).op, Op::PutField { field: put, .. } | Op::PutStatic { field: put, .. } if put == field);
                    let first = own && self.is_first_put(shape, at, value);
                    if !first && !goes_back(shape, at, source) {
                        self.share(field, shape, Some(at));
                    }
                }
                Source::Param(position) => {
                    let new = self.spilled_params.insert((shape.method, position));
                    self.changed.summary |= new;
                }
                Source::Made(_) | Source::Other => {}
            }
        }
    }

    /// Whether everything behind the value was made here and is put nowhere else.
    fn is_first_put(&self, shape: &Shape<'_>, at: InstrId, value: ValueId) -> bool {
        let mut pending = vec![shape.canon(value)];
        let mut visited = FxHashSet::default();
        while let Some(value) = pending.pop() {
            if !visited.insert(value) || shape.body.ty(value) == Type::Null {
                continue;
            }
            if let Def::Phi(block) = shape.body.value(value).def {
                let phis = shape.body.block(block).phis.iter();
                let inputs = phis
                    .filter(|phi| phi.result == value)
                    .flat_map(|phi| &phi.inputs);
                pending.extend(inputs.map(|&input| shape.canon(input)));
                continue;
            }
            let spills = self.spills.get(&(shape.method, value));
            let only_here = spills.is_some_and(|spills| spills[..] == [at]);
            if !shape.is_made_here(value) || !only_here {
                return false;
            }
        }
        true
    }

    fn gives(&mut self, world: &World<'_>, shape: &Shape<'_>, value: ValueId) {
        let receiver = shape.body.receiver();
        for source in self.sources(world, shape, value) {
            let given = match source {
                Source::Field(None, field) => Given::StaticField(field),
                Source::Field(Some(object), field) if Some(shape.canon(object)) == receiver => {
                    Given::ThisField(field)
                }
                Source::Field(_, field) => {
                    self.share(field, shape, None);
                    Given::Other
                }
                Source::Param(position) => Given::Param(position),
                Source::Made(_) => Given::New,
                Source::Other => Given::Other,
            };
            let known = self.given.entry(shape.method).or_default();
            self.changed.summary |= known.insert(given);
        }
    }

    /// A name that a loop gives to another object must not stand for where an earlier array came from.
    fn check_names(&mut self, world: &World<'_>, shape: &Shape<'_>) {
        for block in &shape.body.blocks {
            for phi in &block.phis {
                if !shape.body.ty(phi.result).is_reference() {
                    continue;
                }
                for source in self.sources(world, shape, phi.result) {
                    if let Source::Field(Some(object), field) = source
                        && !matches!(shape.body.value(shape.canon(object)).def, Def::Param(_))
                    {
                        self.share(field, shape, None);
                    }
                }
            }
        }
    }

    /// Only new objects may be put in a field that is to own them, each in one object.
    fn check_puts(&mut self, world: &World<'_>, shape: &Shape<'_>) {
        for (id, instr) in shape.body.all_instrs() {
            let (Op::PutField { field, value, .. } | Op::PutStatic { field, value }) = &instr.op
            else {
                continue;
            };
            if !shape.body.ty(*value).is_reference() {
                continue;
            }
            let put_block = shape.body.instr(id).block;
            let exact = is_made_by_exact_class(world, shape, id, *value);
            let mut fine = exact
                || self.sources(world, shape, *value).iter().all(|&source| {
                    matches!(source, Source::Field(_, from) if from == *field)
                        || matches!(source, Source::Made(_))
                });
            let mut visited = FxHashSet::default();
            let made = made_behind(shape, *value, &mut visited);
            fine &= !made.is_empty() || self.sources(world, shape, *value).is_empty();
            for made in made {
                let spills = self.spills.get(&(shape.method, made));
                fine &= spills.is_some_and(|spills| spills[..] == [id]);
                fine &= match shape.body.value(made).def {
                    Def::Instr(at) => {
                        shape.body.instr(at).block == put_block
                            || !shape.body.block(put_block).in_loop
                    }
                    _ => false,
                };
            }
            if !fine {
                self.share(*field, shape, Some(id));
            }
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
                if !result.is_some_and(|copy| replaces(shape, at, copy, field)) {
                    self.share(field, shape, Some(at));
                }
            }
        }
    }
}

/// Whether what came from a field goes back to it, in the same object.
fn goes_back(shape: &Shape<'_>, at: InstrId, source: Source) -> bool {
    let Source::Field(from, field) = source else {
        return false;
    };
    let steady = |value: ValueId| matches!(shape.body.value(value).def, Def::Param(_));
    match (&shape.body.instr(at).op, from) {
        (
            Op::PutField {
                object, field: put, ..
            },
            Some(from),
        ) => {
            let (object, from) = (shape.canon(*object), shape.canon(from));
            *put == field && object == from && steady(object)
        }
        (Op::PutStatic { field: put, .. }, None) => *put == field,
        _ => false,
    }
}

/// The objects behind a value that were made here, or by a call.
fn made_behind(
    shape: &Shape<'_>,
    value: ValueId,
    visited: &mut FxHashSet<ValueId>,
) -> Vec<ValueId> {
    let value = shape.canon(value);
    if !visited.insert(value) {
        return Vec::new();
    }
    let defining = shape.body.defining(value).map(|instr| &instr.op);
    if let Def::Phi(block) = shape.body.value(value).def {
        let phis = shape.body.block(block).phis.iter();
        return phis
            .filter(|phi| phi.result == value)
            .flat_map(|phi| &phi.inputs)
            .flat_map(|&input| made_behind(shape, input, visited))
            .collect();
    }
    if shape.is_made_here(value) || matches!(defining, Some(Op::Invoke { .. })) {
        vec![value]
    } else {
        Vec::new()
    }
}

/// Whether the value is new because, where the instruction stands, the object that gave it is known to be of a class that gives new ones.
///
/// `a = c.toArray()` is anybody's array, but not after `c.getClass() == ArrayList.class`.
fn is_made_by_exact_class(
    world: &World<'_>,
    shape: &Shape<'_>,
    at: InstrId,
    value: ValueId,
) -> bool {
    let body = shape.body;
    let (Some(Op::Invoke { method, args, .. }), &[pred]) = (
        body.defining(shape.canon(value)).map(|instr| &instr.op),
        &body.block(body.instr(at).block).preds[..],
    ) else {
        return false;
    };
    let Op::If {
        test,
        left,
        right: Some(right),
    } = body.terminator(pred).op
    else {
        return false;
    };
    let equal = match test {
        Test::Eq => 0,
        Test::Ne => 1,
        _ => return false,
    };
    if body.block(pred).succs.get(equal) != Some(&body.instr(at).block)
        || body.block(pred).succs[0] == body.block(pred).succs[1]
    {
        return false;
    }
    let classes = world.table();
    let receiver = args.first().map(|&arg| shape.canon(arg));
    let asks_class = |value: ValueId| match body.defining(value).map(|instr| &instr.op) {
        Some(Op::Invoke { method, args, .. }) => {
            classes.method_name(*method) == "getClass"
                && args.len() == 1
                && receiver == Some(shape.canon(args[0]))
        }
        _ => false,
    };
    let named = |value: ValueId| match body.defining(value).map(|instr| &instr.op) {
        Some(Op::Const(Const::Class(class))) => Some(*class),
        _ => None,
    };
    let class = if asks_class(left) {
        named(right)
    } else if asks_class(right) {
        named(left)
    } else {
        None
    };
    let callee = class.and_then(|class| classes.select(class, *method));
    callee.is_some_and(|callee| {
        let model = world.model(callee);
        model.is_some_and(|model| model.fresh)
    })
}

/// Whether the copy made at an instruction gets its own value of a field before it can leak or the field is read: within straight-line code.
pub fn replaces(shape: &Shape<'_>, at: InstrId, copy: ValueId, field: FieldId) -> bool {
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
