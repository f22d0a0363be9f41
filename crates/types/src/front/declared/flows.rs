//! Where objects flow from one type with ghosts into another: both must have the same arguments.
//!
//! What is declared on both sides is compared here, and a difference is an error at its line; what the solver has to choose becomes a constraint.

use rustc_hash::FxHashMap;
use untorn_program::classes::Type;
use untorn_program::ir::Op;
use untorn_program::{ClassId, InstrId, MethodId, ValueId};

use super::super::Translator;
use super::super::content::{related, replaces};
use super::super::fresh::{Shape, is_clone, library_keeps};
use crate::annotations::{AnnotationError, Place};
use crate::input::{Actuals, Allocation, Arg, Flow};
use crate::locks::{Lock, Locks, Root};

/// A lock expression in another scope.
enum Image {
    /// That depends on a choice.
    Open,
    /// This one.
    Lock(Lock),
    /// None that has a name there.
    Nameless,
}

impl Translator<'_, '_> {
    /// Adds the flows of all bodies.
    pub(in crate::front) fn ghost_flows(
        &mut self,
        shapes: &FxHashMap<MethodId, Shape<'_>>,
    ) -> Result<(), AnnotationError> {
        if self.declared.is_empty() {
            return Ok(());
        }
        for method in self.world.methods.clone() {
            if let Some(shape) = shapes.get(&method) {
                self.strangers(method)?;
                self.body_flows(shape)?;
            }
        }
        Ok(())
    }

    /// Strangers know no ghosts, unless a declaration tells them.
    fn strangers(&mut self, method: MethodId) -> Result<(), AnnotationError> {
        if !self.world.is_open(method) {
            return Ok(());
        }
        let count = self.world.table().method(method).params.len();
        for number in 0..count {
            if !self.declared.known_types.contains(&(method, Some(number))) {
                let args = self.param_args(method, number);
                self.agree(method, 0, &args, &Actuals::default(), &[])?;
            }
        }
        if !self.declared.known_types.contains(&(method, None)) {
            let args = self.result_args(method);
            self.agree(method, 0, &args, &Actuals::default(), &[])?;
        }
        Ok(())
    }

    fn body_flows(&mut self, shape: &Shape<'_>) -> Result<(), AnnotationError> {
        for block in &shape.body.blocks {
            for phi in &block.phis {
                for &input in &phi.inputs {
                    self.value_flow(shape, 0, input, phi.result)?;
                }
            }
        }
        let method = shape.method;
        for (id, instr) in shape.body.all_instrs() {
            let line = instr.line;
            match &instr.op {
                Op::New { class } => self.allocated(shape, id, *class),
                Op::PutField { field, value, .. } | Op::PutStatic { field, value } => {
                    let info = self.world.table().field(*field);
                    let (owner, ty) = (info.class, info.ty.class());
                    let actuals = match &instr.op {
                        Op::PutField { object, .. } => self.receiver_actuals(shape, *object, owner),
                        _ => Vec::new(),
                    };
                    let args = self.field_args(*field);
                    self.flow_to_type(shape, line, *value, ty, &args, &Actuals(actuals))?;
                }
                Op::Return { value: Some(value) } => {
                    let ty = self.world.table().method(method).returns;
                    let ty = ty.and_then(Type::class);
                    let args = self.result_args(method);
                    let actuals = self.identity(method);
                    self.flow_to_type(shape, line, *value, ty, &args, &actuals)?;
                }
                Op::ArrayStore { value, .. } | Op::Throw { value } => {
                    self.leak(shape, line, *value)?;
                }
                Op::Lambda { args, .. } | Op::Dynamic { args, .. } => {
                    for &arg in args {
                        self.leak(shape, line, arg)?;
                    }
                }
                Op::Invoke { args, .. } => self.call_flows(shape, id, line, args)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn call_flows(
        &mut self,
        shape: &Shape<'_>,
        at: InstrId,
        line: u16,
        args: &[ValueId],
    ) -> Result<(), AnnotationError> {
        let callees = self.world.callees(shape.method, at);
        for (position, &arg) in args.iter().enumerate() {
            let keeps = callees.hides_flows()
                || (callees.library.iter())
                    .any(|&callee| library_keeps(self.world, callee, position));
            // Calls of a declared method know what its parameters are.
            if keeps && position > 0 {
                self.leak(shape, line, arg)?;
            }
        }
        if (callees.library.iter()).any(|&callee| is_clone(self.world, callee)) {
            self.copied(shape, at, line)?;
        }
        let foreign = callees.hides_flows() || !callees.library.is_empty();
        if let (Some(result), true) = (shape.body.instr(at).result, foreign) {
            self.leak(shape, line, result)?;
        }
        for &callee in &callees.translated {
            if let Some(&receiver) = args.first()
                && !self.world.table().method(callee).flags.is_static()
                && self.excludes(shape, receiver, callee)
            {
                continue;
            }
            let actuals = self.call_actuals(shape, at, callee, args);
            let info = self.world.table().method(callee);
            let receiver = usize::from(!info.flags.is_static());
            for number in 0..info.params.len() {
                let ty = self.world.table().method(callee).params[number].class();
                let Some(&arg) = args.get(number + receiver) else {
                    continue;
                };
                let formal = self.param_args(callee, number);
                self.flow_to_type(shape, line, arg, ty, &formal, &actuals)?;
            }
            if let Some(result) = shape.body.instr(at).result {
                let ty = self.world.table().method(callee).returns;
                let ty = ty.and_then(Type::class);
                let formal = self.result_args(callee);
                self.flow_to_type(shape, line, result, ty, &formal, &actuals)?;
            }
        }
        Ok(())
    }

    /// A shallow copy holds what its original holds: no argument but `none` fits both, unless the copy gets its own before it is known.
    fn copied(&mut self, shape: &Shape<'_>, at: InstrId, line: u16) -> Result<(), AnnotationError> {
        let classes = self.world.table();
        let copy = shape.body.instr(at).result;
        for class in related(self.world, classes.method(shape.method).class) {
            for &field in &classes.class(class).fields {
                let shared = !classes.field(field).flags.is_static()
                    && !copy.is_some_and(|copy| replaces(shape, at, copy, field));
                if shared {
                    let args = self.field_args(field);
                    self.agree(shape.method, line, &args, &Actuals::default(), &[])?;
                }
            }
        }
        Ok(())
    }

    /// Actuals for the whole scope of a callee.
    pub(in crate::front) fn call_actuals(
        &mut self,
        shape: &Shape<'_>,
        at: InstrId,
        callee: MethodId,
        args: &[ValueId],
    ) -> Actuals {
        let info = self.world.table().method(callee);
        let (class, is_static) = (info.class, info.flags.is_static());
        let receiver = usize::from(!is_static);
        let mut actuals = Vec::new();
        for (position, &arg) in args.iter().enumerate() {
            if !shape.body.ty(arg).is_reference() {
                continue;
            }
            let lock =
                super::super::names::name(self.world, self.facts, &mut self.locks, shape, arg);
            let root = match position.checked_sub(receiver) {
                Some(index) => Root::Param(index as u16),
                None => Root::This,
            };
            actuals.push((root, Arg::Lock(lock)));
        }
        if let (Some(&first), false) = (args.first(), is_static) {
            actuals.extend(self.declared_actuals(shape, first, class));
        }
        actuals.extend(self.method_ghost_actuals(shape.method, at, callee));
        Actuals(actuals)
    }

    /// Every name of a method's scope stays what it is.
    fn identity(&mut self, method: MethodId) -> Actuals {
        let locks = self.locks_in_scope(method);
        Actuals(
            (locks.into_iter())
                .map(|lock| (self.locks.root_of(lock), Arg::Lock(lock)))
                .collect(),
        )
    }

    fn allocated(&mut self, shape: &Shape<'_>, at: InstrId, class: ClassId) {
        let args = self.new_args(shape.method, at, class);
        let supers = self.world.table().supertypes(class).to_vec();
        let ghosts: Vec<_> = self
            .declared
            .of_class(class)
            .iter()
            .map(|(_, g)| *g)
            .collect();
        let own = Actuals(ghosts.into_iter().map(Root::Ghost).zip(args).collect());
        let mut classes = Vec::new();
        for above in supers {
            let ghosts: Vec<_> = self
                .declared
                .of_class(above)
                .iter()
                .map(|(_, g)| *g)
                .collect();
            if ghosts.is_empty() {
                continue;
            }
            let args: Vec<Arg> = (self.supertype_args(class, above).into_iter())
                .map(|arg| self.substituted(arg, &own, &[]))
                .collect();
            let actuals = ghosts.into_iter().map(Root::Ghost).zip(args).collect();
            classes.push((self.declared.class_id(above), Actuals(actuals)));
        }
        if !classes.is_empty() {
            self.declared.allocations.push(Allocation { classes });
        }
    }

    /// A value flows into a type whose arguments are in terms of another scope.
    fn flow_to_type(
        &mut self,
        shape: &Shape<'_>,
        line: u16,
        value: ValueId,
        ty: Option<ClassId>,
        formal: &[Arg],
        actuals: &Actuals,
    ) -> Result<(), AnnotationError> {
        if Self::is_null(shape, value) || !shape.body.ty(value).is_reference() {
            return Ok(());
        }
        match ty {
            Some(ty) if !formal.is_empty() => {
                self.forget(shape, line, value, ty)?;
                let args = self.args_of(shape, value, ty);
                self.agree(shape.method, line, formal, actuals, &args)
            }
            _ => self.hide(shape, line, value, ty),
        }
    }

    /// A value flows into a type without ghosts: what its own class adds must be forgotten as `none`.
    fn hide(
        &mut self,
        shape: &Shape<'_>,
        line: u16,
        value: ValueId,
        ty: Option<ClassId>,
    ) -> Result<(), AnnotationError> {
        let instance = self.instance(shape, value);
        // An instance of the very type has nothing to hide, and neither has one whose class has no ghosts.
        if ty == Some(instance.class) || instance.args.is_empty() {
            return Ok(());
        }
        self.agree(shape.method, line, &instance.args, &Actuals::default(), &[])
    }

    /// Ghosts of a subclass that its supertype does not know of must be `none` there.
    fn forget(
        &mut self,
        shape: &Shape<'_>,
        line: u16,
        value: ValueId,
        ty: ClassId,
    ) -> Result<(), AnnotationError> {
        let instance = self.instance(shape, value);
        if instance.class == ty || !self.world.table().is_subtype(instance.class, ty) {
            return Ok(());
        }
        let kept = self.supertype_args(instance.class, ty);
        let own = self.ghost_locks(instance.class);
        let lost: Vec<Arg> = (own.into_iter().zip(instance.args))
            .filter(|(ghost, _)| !kept.contains(&Arg::Lock(*ghost)))
            .map(|(_, arg)| arg)
            .collect();
        self.agree(shape.method, line, &lost, &Actuals::default(), &[])
    }

    /// A value goes where ghosts are not known.
    fn leak(
        &mut self,
        shape: &Shape<'_>,
        line: u16,
        value: ValueId,
    ) -> Result<(), AnnotationError> {
        if Self::is_null(shape, value) || !shape.body.ty(value).is_reference() {
            return Ok(());
        }
        self.hide(shape, line, value, None)
    }

    /// One value is another, in one scope.
    fn value_flow(
        &mut self,
        shape: &Shape<'_>,
        line: u16,
        from: ValueId,
        to: ValueId,
    ) -> Result<(), AnnotationError> {
        let target = self.instance(shape, to);
        let actuals = self.identity(shape.method);
        let class = Some(target.class);
        self.flow_to_type(shape, line, from, class, &target.args, &actuals)
    }

    /// `θ(formal) = args` for each; nothing on the right means `none`.
    fn agree(
        &mut self,
        method: MethodId,
        line: u16,
        formal: &[Arg],
        actuals: &Actuals,
        args: &[Arg],
    ) -> Result<(), AnnotationError> {
        for (at, &from) in formal.iter().enumerate() {
            let actuals = actuals.clone();
            let Some(&to) = args.get(at) else {
                // Known to nobody else: compared as it is, in its own scope.
                match from {
                    Arg::Lock(Locks::NONE) => {}
                    Arg::Lock(lock) => return Err(self.mismatch(method, line, lock, Locks::NONE)),
                    _ => self.declared.flows.push(Flow {
                        from,
                        actuals,
                        to: Arg::Lock(Locks::NONE),
                    }),
                }
                continue;
            };
            let image = match from {
                Arg::Lock(lock) => self.image(lock, &actuals),
                _ => Image::Open,
            };
            match (image, to) {
                (Image::Lock(wanted), Arg::Lock(to)) => {
                    if wanted != to {
                        return Err(self.mismatch(method, line, to, wanted));
                    }
                }
                (Image::Nameless, Arg::Lock(to)) => {
                    return Err(self.mismatch(method, line, to, Locks::NONE));
                }
                (Image::Lock(image), Arg::Slot(slot)) => {
                    // The solver must be able to choose what is declared.
                    let candidates = &mut self.declared.slots[slot.index()].candidates;
                    if !candidates.contains(&image) {
                        candidates.push(image);
                    }
                    self.declared.flows.push(Flow { from, actuals, to });
                }
                _ => self.declared.flows.push(Flow { from, actuals, to }),
            }
        }
        Ok(())
    }

    fn image(&mut self, lock: Lock, actuals: &Actuals) -> Image {
        let root = self.locks.root_of(lock);
        let actual = actuals.0.iter().find(|(known, _)| *known == root);
        if matches!(actual, Some((_, Arg::Slot(_)))) {
            return Image::Open;
        }
        let image = actuals.substitution(&[]).apply(&mut self.locks, lock);
        image.map_or(Image::Nameless, Image::Lock)
    }

    fn mismatch(&self, method: MethodId, line: u16, found: Lock, wanted: Lock) -> AnnotationError {
        let classes = self.world.table();
        let name = classes.describe_method(method).replace('/', ".");
        let (found, wanted) = (
            self.locks.describe(found, &[]),
            self.locks.describe(wanted, &[]),
        );
        let source = classes.class(classes.method(method).class).source_file;
        let file = source.map_or("", |file| classes.names.name(file));
        AnnotationError {
            place: Place {
                file: file.to_owned(),
                line: u32::from(line),
                column: 1,
            },
            problem: format!(
                "in {name} an object with the ghost argument `{found}` is used where `{wanted}` is wanted"
            ),
        }
    }
}
