//! The ghost arguments of values, from where they come from.

use untorn_program::classes::Type;
use untorn_program::ir::{Const, Def, Op};
use untorn_program::{ClassId, InstrId, MethodId, ValueId};

use super::super::Translator;
use super::super::fresh::Shape;
use super::super::names::name;
use super::none;
use crate::input::{Actuals, Arg};
use crate::locks::{Lock, Locks, Root};

/// A class, and the arguments for its own ghosts.
pub(super) struct Instance {
    pub class: ClassId,
    pub args: Vec<Arg>,
}

impl Translator<'_, '_> {
    fn named(&mut self, shape: &Shape<'_>, value: ValueId) -> Lock {
        name(&self.world, &self.facts, &mut self.locks, shape, value)
    }

    /// Actuals for `this` and the ghosts of a class, if a value is an instance of it.
    pub(in crate::front) fn receiver_actuals(
        &mut self,
        shape: &Shape<'_>,
        value: ValueId,
        class: ClassId,
    ) -> Vec<(Root, Arg)> {
        let mut actuals = vec![(Root::This, Arg::Lock(self.named(shape, value)))];
        actuals.extend(self.declared_actuals(shape, value, class));
        actuals
    }

    /// Actuals for the ghosts of a class, if a value is an instance of it.
    pub(in crate::front) fn declared_actuals(
        &mut self,
        shape: &Shape<'_>,
        value: ValueId,
        class: ClassId,
    ) -> Vec<(Root, Arg)> {
        if self.declared.of_class(class).is_empty() {
            return Vec::new();
        }
        let args = self.args_of(shape, value, class);
        let ghosts = self.declared.of_class(class).iter();
        ghosts
            .map(|(_, ghost)| Root::Ghost(*ghost))
            .zip(args)
            .collect()
    }

    /// The lock that protects the lock of an object, if its class has one.
    pub(in crate::front) fn declared_protector(
        &mut self,
        shape: &Shape<'_>,
        value: ValueId,
    ) -> Option<Arg> {
        if self.declared.protecting.is_empty() {
            return None;
        }
        let class = shape.body.ty(value).class()?;
        let supers = self.world.table().supertypes(class);
        let guarded = *supers
            .iter()
            .find(|c| self.declared.protecting.contains(c))?;
        self.args_of(shape, value, guarded).first().copied()
    }

    /// Actuals for the ghosts of a called method.
    pub(in crate::front) fn method_ghost_actuals(
        &mut self,
        caller: MethodId,
        at: InstrId,
        callee: MethodId,
    ) -> Vec<(Root, Arg)> {
        let ghosts: Vec<_> = self
            .declared
            .of_method(callee)
            .iter()
            .map(|(_, g)| *g)
            .collect();
        if ghosts.is_empty() {
            return Vec::new();
        }
        let known = self.declared.calls.get(&(caller, at)).cloned();
        let args = match known {
            Some(args) if args.len() == ghosts.len() => args,
            _ => {
                let candidates = self.locks_in_scope(caller);
                let args: Vec<Arg> = (ghosts.iter())
                    .map(|_| self.declared.slot(candidates.clone(), false))
                    .collect();
                self.declared.calls.insert((caller, at), args.clone());
                args
            }
        };
        ghosts.into_iter().map(Root::Ghost).zip(args).collect()
    }

    /// Whether a value cannot be an object that runs this method, since its arguments are others.
    pub(in crate::front) fn excludes(
        &mut self,
        shape: &Shape<'_>,
        value: ValueId,
        callee: MethodId,
    ) -> bool {
        if self.declared.is_empty() {
            return false;
        }
        let below = self.world.table().method(callee).class;
        let instance = self.instance(shape, value);
        let classes = self.world.table();
        if instance.class == below || !classes.is_subtype(below, instance.class) {
            return false;
        }
        let theirs = self.supertype_args(below, instance.class);
        (theirs.iter().zip(&instance.args)).any(|(theirs, ours)| match (theirs, ours) {
            (Arg::Lock(theirs), Arg::Lock(ours)) => {
                let fixed = !matches!(self.locks.root_of(*theirs), Root::Ghost(_) | Root::This);
                fixed && theirs != ours
            }
            _ => false,
        })
    }

    /// The arguments that a value has for the ghosts of a class.
    pub(in crate::front) fn args_of(
        &mut self,
        shape: &Shape<'_>,
        value: ValueId,
        wanted: ClassId,
    ) -> Vec<Arg> {
        let count = self.declared.of_class(wanted).len();
        if count == 0 {
            return Vec::new();
        }
        let Instance { class, args } = self.instance(shape, value);
        if class == wanted {
            return args;
        }
        let classes = self.world.table();
        if classes.is_subtype(class, wanted) {
            let mut actuals = vec![(Root::This, Arg::Lock(self.named(shape, value)))];
            let ghosts: Vec<_> = self
                .declared
                .of_class(class)
                .iter()
                .map(|(_, g)| *g)
                .collect();
            actuals.extend(ghosts.into_iter().map(Root::Ghost).zip(args));
            let candidates = self.locks_in_scope(shape.method);
            let actuals = Actuals(actuals);
            return (self.supertype_args(class, wanted).into_iter())
                .map(|arg| self.substituted(arg, &actuals, &candidates))
                .collect();
        }
        if classes.is_subtype(wanted, class) {
            // Known as an instance of a supertype: the ghosts that this one was given.
            let above = self.supertype_args(wanted, class);
            let own = self.ghost_locks(wanted);
            return (own.into_iter())
                .map(|ghost| {
                    let at = above.iter().position(|arg| *arg == Arg::Lock(ghost));
                    at.and_then(|at| args.get(at).copied())
                        .unwrap_or(Arg::Lock(Locks::NONE))
                })
                .collect();
        }
        none(count)
    }

    /// The best known class of a value, with the arguments for its ghosts.
    pub(super) fn instance(&mut self, shape: &Shape<'_>, value: ValueId) -> Instance {
        let object = self.world.table().well_known.object;
        let class = shape.body.ty(value).class().unwrap_or(object);
        let unknown = |t: &Self| Instance {
            class,
            args: none(t.declared.of_class(class).len()),
        };
        if self.declared.is_empty() {
            return unknown(self);
        }
        let instr = match shape.body.value(value).def {
            Def::Param(position) => return self.parameter(shape, usize::from(position)),
            Def::Phi(_) => return self.chosen(shape, value, class),
            Def::Instr(instr) => instr,
        };
        let classes = self.world.table();
        match &shape.body.instr(instr).op {
            Op::Cast { value, .. } => self.instance(shape, *value),
            Op::New { class } => {
                let args = self.new_args(shape.method, instr, *class);
                Instance {
                    class: *class,
                    args,
                }
            }
            Op::GetField { field, .. } | Op::GetStatic { field } => {
                let Some(class) = classes.field(*field).ty.class() else {
                    return unknown(self);
                };
                let owner = classes.field(*field).class;
                let actuals = match &shape.body.instr(instr).op {
                    Op::GetField { object, .. } => self.receiver_actuals(shape, *object, owner),
                    _ => Vec::new(),
                };
                let candidates = self.locks_in_scope(shape.method);
                let actuals = Actuals(actuals);
                if let Some(args) = self.declared.values.get(&(shape.method, value)) {
                    let args = args.clone();
                    return Instance { class, args };
                }
                let args: Vec<Arg> = (self.field_args(*field).into_iter())
                    .map(|arg| self.substituted(arg, &actuals, &candidates))
                    .collect();
                let key = (shape.method, value);
                self.declared.values.insert(key, args.clone());
                Instance { class, args }
            }
            Op::Invoke { method, .. } => match classes.method(*method).returns {
                Some(Type::Ref(class)) => self.chosen(shape, value, class),
                _ => unknown(self),
            },
            _ => unknown(self),
        }
    }

    fn parameter(&mut self, shape: &Shape<'_>, position: usize) -> Instance {
        let classes = self.world.table();
        let info = classes.method(shape.method);
        let receiver = usize::from(shape.body.has_receiver);
        let Some(number) = position.checked_sub(receiver) else {
            let class = info.class;
            let args = self.supertype_args(class, class);
            return Instance { class, args };
        };
        let object = classes.well_known.object;
        let class = info.params.get(number).and_then(|ty| ty.class());
        Instance {
            class: class.unwrap_or(object),
            args: self.param_args(shape.method, number),
        }
    }

    /// Arguments that the code around a value determines, by the flows into it.
    fn chosen(&mut self, shape: &Shape<'_>, value: ValueId, class: ClassId) -> Instance {
        let key = (shape.method, value);
        if let Some(args) = self.declared.values.get(&key) {
            let args = args.clone();
            return Instance { class, args };
        }
        let candidates = self.locks_in_scope(shape.method);
        let args = self.declared.open(class, &candidates);
        self.declared.values.insert(key, args.clone());
        Instance { class, args }
    }

    pub(super) fn new_args(&mut self, method: MethodId, at: InstrId, class: ClassId) -> Vec<Arg> {
        if let Some(args) = self.declared.news.get(&(method, at)) {
            return args.clone();
        }
        let candidates = self.locks_in_scope(method);
        let args = self.declared.open(class, &candidates);
        self.declared.news.insert((method, at), args.clone());
        args
    }

    /// In terms of the owner.
    pub(super) fn field_args(&mut self, field: untorn_program::FieldId) -> Vec<Arg> {
        if let Some(args) = self.declared.fields.get(&field) {
            return args.clone();
        }
        let info = self.world.table().field(field);
        let Some(class) = info.ty.class() else {
            return Vec::new();
        };
        let mut candidates = self.ghost_locks(info.class);
        if !info.flags.is_static() {
            candidates.push(Locks::THIS);
        }
        let args = self.declared.open(class, &candidates);
        self.declared.fields.insert(field, args.clone());
        args
    }

    /// In terms of the method.
    pub(super) fn param_args(&mut self, method: MethodId, number: usize) -> Vec<Arg> {
        if let Some(args) = self.declared.params.get(&(method, number)) {
            return args.clone();
        }
        let ty = self
            .world
            .table()
            .method(method)
            .params
            .get(number)
            .copied();
        let Some(class) = ty.and_then(|ty| ty.class()) else {
            return Vec::new();
        };
        let candidates = self.locks_in_scope(method);
        let args = self.declared.open(class, &candidates);
        self.declared.params.insert((method, number), args.clone());
        args
    }

    /// In terms of the method.
    pub(super) fn result_args(&mut self, method: MethodId) -> Vec<Arg> {
        if let Some(args) = self.declared.results.get(&method) {
            return args.clone();
        }
        let ty = self.world.table().method(method).returns;
        let Some(class) = ty.and_then(|ty| ty.class()) else {
            return Vec::new();
        };
        let candidates = self.locks_in_scope(method);
        let args = self.declared.open(class, &candidates);
        self.declared.results.insert(method, args.clone());
        args
    }

    /// The null reference has any arguments.
    pub(super) fn is_null(shape: &Shape<'_>, value: ValueId) -> bool {
        shape.body.ty(value) == Type::Null
            || matches!(
                shape.body.defining(value).map(|instr| &instr.op),
                Some(Op::Const(Const::Null))
            )
    }
}
