//! One method body as a graph of effects.
//!
//! Exceptional edges leave after the instruction's effect, since an effect is never below its beginnings; only a lock that could not be taken is left out.
//! The exceptional exit of a synchronized method needs no node: it is the end of a path that is below one which returns.
//! Class initialization on first use is taken for `const`: it happens once, behind the JVM's own lock.

use rustc_hash::FxHashSet;
use untorn_program::classes::ClassKind;
use untorn_program::ir::{Op, Test};
use untorn_program::library::LockAction;
use untorn_program::locks::MethodLock;
use untorn_program::{BlockId, InstrId, MethodId, RegionId as Section, ValueId};

use super::Translator;
use super::content::{Source, related};
use super::fields::{has_wide_elements, is_unknown};
use super::fresh::{Leaked, Shape, is_clone};
use super::models::Operand;
use super::names::{class_lock, explicit, field_name, is_lock_class, name};
use super::sites::What;
use super::versions::{Key, library_touches};
use crate::algebra::Atomicity;
use crate::input::{Actuals, Arg, Effect, Graph, Node, NodeId, Site, Target};
use crate::locks::{Expr, Lock, Locks, Root};

/// A graph under construction.
pub struct Writer<'t, 'f, 'a> {
    translator: &'t mut Translator<'f, 'a>,
    key: Key,
    shape: &'t Shape<'a>,
    nodes: Vec<Node>,
    entries: Vec<NodeId>,
    cursor: Option<NodeId>,
    bound: FxHashSet<u32>,
    method_lock: Option<Lock>,
    method_protector: Option<Arg>,
    /// Synchronized blocks can be told apart.
    structured: bool,
}

impl<'t, 'f, 'a> Writer<'t, 'f, 'a> {
    pub fn write(translator: &'t mut Translator<'f, 'a>, key: Key, shape: &'t Shape<'a>) -> Graph {
        let locks = translator.world.program.locks(key.method);
        let structured = locks.unmatched().is_none();
        let method_lock = match locks.method_lock() {
            Some(MethodLock::Receiver) => Some(Locks::THIS),
            Some(MethodLock::Class(class)) => {
                Some(class_lock(translator.world, &mut translator.locks, class))
            }
            None => None,
        };
        let mut writer = Writer {
            translator,
            key,
            shape,
            nodes: Vec::new(),
            entries: Vec::new(),
            cursor: None,
            bound: FxHashSet::default(),
            method_lock,
            method_protector: None,
            structured,
        };
        if let (Some(MethodLock::Receiver), Some(this)) =
            (locks.method_lock(), shape.body.receiver())
        {
            writer.method_protector = writer.protector(this, &Leaked::default());
        }
        writer.find_bound();
        writer.run();
        Graph {
            nodes: writer.nodes,
        }
    }

    fn name(&mut self, value: ValueId) -> Lock {
        let t = &mut *self.translator;
        name(t.world, t.facts, &mut t.locks, self.shape, value)
    }

    /// Locals that serve as names.
    fn find_bound(&mut self) {
        for instr in &self.shape.body.instrs {
            let mut operands = Vec::new();
            instr.op.for_each_operand(|value| operands.push(value));
            for value in operands {
                if self.shape.body.ty(value).is_reference() {
                    let lock = self.name(value);
                    if let Root::Local(index) = self.translator.locks.root_of(lock) {
                        self.bound.insert(index);
                    }
                }
            }
            if let Op::Invoke { args, .. } = &instr.op
                && let Some(&receiver) = args.first()
                && let Some(result) = instr.result
                && matches!(
                    self.shape.body.defining(receiver).map(|i| &i.op),
                    Some(Op::Cast { .. })
                )
            {
                self.bound.insert(receiver.0);
                self.bound.insert(result.0);
            }
            if let Op::Cast { .. } = &instr.op {
                self.bound.extend(instr.result.map(|r| r.0));
            }
        }
    }

    fn node(&mut self, effect: Effect, site: Site) -> NodeId {
        self.nodes.push(Node {
            effect,
            next: Vec::new(),
            site,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn link(&mut self, from: Option<NodeId>, to: NodeId) {
        if let Some(from) = from {
            let next = &mut self.nodes[from.index()].next;
            if !next.contains(&to) {
                next.push(to);
            }
        }
    }

    fn push(&mut self, effect: Effect, site: Site) {
        let node = self.node(effect, site);
        self.link(self.cursor, node);
        self.cursor = Some(node);
    }

    /// Any number of times.
    fn push_repeated(&mut self, effect: Effect, site: Site) {
        self.push(effect, site);
        if let Some(node) = self.cursor {
            self.link(Some(node), node);
        }
    }

    fn site(&mut self, line: u16, what: What) -> Site {
        self.translator.sites.add(self.key.method, line, what)
    }

    fn run(&mut self) {
        let body = self.shape.body;
        let first_line = body.instrs.first().map_or(0, |instr| instr.line);
        let site = self.site(first_line, What::Entry);
        self.push(Effect::Skip, site);
        if let Some(lock) = self.method_lock {
            self.translator.record_lock(lock, true);
            let site = self.site(first_line, What::Acquire(lock));
            self.push(
                Effect::Acquire {
                    lock: Some(lock),
                    protector: self.method_protector,
                },
                site,
            );
        }
        let entry = self.cursor;
        for id in body.block_ids() {
            let site = self.entry_site(id);
            let node = self.node(Effect::Skip, site);
            self.entries.push(node);
        }
        if let Some(&first) = self.entries.first() {
            self.link(entry, first);
        }
        let states = self.shape.states();
        for block in body.block_ids() {
            if let Some(leaked) = states[block.index()].clone() {
                self.block(block, leaked);
            }
        }
    }

    fn entry_site(&mut self, id: BlockId) -> Site {
        let first = self.shape.body.block_instrs(id).next();
        let line = first.map_or(0, |(_, instr)| instr.line);
        self.site(line, What::Entry)
    }

    fn block(&mut self, id: BlockId, mut leaked: Leaked) {
        let body = self.shape.body;
        let block = body.block(id);
        self.cursor = Some(self.entries[id.index()]);
        for phi in &block.phis {
            if self.bound.contains(&phi.result.0) {
                let site = self.entry_site(id);
                self.push(Effect::Bind(phi.result.0), site);
            }
        }
        let mut trying = None;
        for (at, instr) in body.block_instrs(id) {
            let before = self.cursor;
            let taking = self.instr(at, &leaked);
            if let Taking::Tried(lock, site) = taking {
                trying = instr.result.map(|result| (result, lock, site));
            }
            if instr.op.can_throw() {
                let from = if matches!(taking, Taking::Taken) {
                    before
                } else {
                    self.cursor
                };
                for handler in &block.handlers {
                    self.link(from, self.entries[handler.block.index()]);
                }
            }
            if let Some(result) = instr.result
                && self.bound.contains(&result.0)
            {
                let site = self.site(instr.line, What::Entry);
                self.push(Effect::Bind(result.0), site);
            }
            self.shape.step(&mut leaked, at);
        }
        let success = trying.and_then(|tried| self.success_branch(id, tried));
        for (index, &next) in block.succs.iter().enumerate() {
            let target = self.entries[next.index()];
            match success {
                Some((branch, lock, site)) if branch == index => {
                    let node = self.node(
                        Effect::Acquire {
                            lock: Some(lock),
                            protector: None,
                        },
                        site,
                    );
                    self.link(self.cursor, node);
                    self.link(Some(node), target);
                }
                _ => self.link(self.cursor, target),
            }
        }
    }

    /// The branch on which `tryLock` has the lock; without a plain test of its result none has it.
    fn success_branch(
        &self,
        block: BlockId,
        (result, lock, site): (ValueId, Lock, Site),
    ) -> Option<(usize, Lock, Site)> {
        match self.shape.body.terminator(block).op {
            Op::If {
                test,
                left,
                right: None,
            } if left == result => match test {
                Test::Ne => Some((0, lock, site)),
                Test::Eq => Some((1, lock, site)),
                _ => None,
            },
            _ => None,
        }
    }

    fn instr(&mut self, at: InstrId, leaked: &Leaked) -> Taking {
        let instr = self.shape.body.instr(at);
        let line = instr.line;
        match &instr.op {
            Op::GetField { object, field } => {
                self.access(line, *field, Some(*object), false, leaked);
            }
            Op::PutField { object, field, .. } => {
                self.access(line, *field, Some(*object), true, leaked);
            }
            Op::GetStatic { field } => self.access(line, *field, None, false, leaked),
            Op::PutStatic { field, .. } => self.access(line, *field, None, true, leaked),
            Op::ArrayLoad { array, .. } => self.elements(line, *array, false, false, leaked),
            Op::ArrayStore { array, .. } => self.elements(line, *array, true, false, leaked),
            Op::MonitorEnter { object } => {
                self.monitor_enter(at, *object, leaked);
                return Taking::Taken;
            }
            Op::MonitorExit { object } => self.monitor_exit(at, *object, leaked),
            Op::Concat { args } => {
                let harmless = args.iter().all(|&arg| self.is_value(arg));
                if !harmless {
                    let site = self.site(line, What::Text);
                    self.push(Effect::Does(Atomicity::CMPD), site);
                }
            }
            Op::Dynamic { .. } => {
                let site = self.site(line, What::Dynamic);
                self.push(Effect::Does(Atomicity::CMPD), site);
            }
            Op::Invoke { method, args, .. } => return self.invoke(at, *method, args, leaked),
            Op::Return { .. } | Op::Throw { .. } => {
                let caught = matches!(instr.op, Op::Throw { .. })
                    && self
                        .shape
                        .body
                        .block(instr.block)
                        .handlers
                        .iter()
                        .any(|handler| handler.catches.is_none());
                if let (Some(lock), false) = (self.method_lock, caught) {
                    // A throw may also be caught: that way the lock stays.
                    let before = self.cursor;
                    let site = self.site(line, What::Release(lock));
                    self.push(
                        Effect::Release {
                            lock: Some(lock),
                            protector: self.method_protector,
                        },
                        site,
                    );
                    if matches!(instr.op, Op::Throw { .. }) {
                        self.cursor = before;
                    }
                }
            }
            _ => {}
        }
        Taking::Nothing
    }

    fn is_value(&self, value: ValueId) -> bool {
        let class = self.shape.body.ty(value).class();
        self.translator.world.is_value(class)
    }

    fn is_confined(&self, object: ValueId, leaked: &Leaked) -> bool {
        is_unknown(self.shape, object, self.key.fresh, leaked)
            || self.translator.world.never_escapes(self.key.method, object)
    }

    /// Actuals for the owner of a field.
    fn on(&mut self, object: Option<ValueId>, field: untorn_program::FieldId) -> Actuals {
        let mut actuals = Vec::new();
        if let Some(object) = object {
            actuals.push((Root::This, Arg::Lock(self.name(object))));
            let t = &*self.translator;
            if let Some(ghost) = t.ghosts.ghost_of(t.world.table().field(field).class) {
                let arg = t.ghosts.arg(self.key.method, object);
                actuals.push((Root::Ghost(ghost), arg));
            }
            let owner = self.translator.world.table().field(field).class;
            let declared = self.translator.declared_actuals(self.shape, object, owner);
            actuals.extend(declared);
        }
        Actuals(actuals)
    }

    /// The lock that protects the lock of an object, if its class has such.
    fn protector(&mut self, object: ValueId, leaked: &Leaked) -> Option<Arg> {
        let class = self.shape.body.ty(object).class()?;
        let declared = self.translator.declared_protector(self.shape, object);
        if declared.is_none() {
            self.translator.ghosts.family_of_class(class)?;
        }
        // Nobody contends for the lock of an object that nobody knows.
        if self.is_confined(object, leaked) {
            return None;
        }
        if declared.is_some() {
            return declared;
        }
        self.translator.ghosts.protects(class);
        Some(self.translator.ghosts.arg(self.key.method, object))
    }

    fn access(
        &mut self,
        line: u16,
        field: untorn_program::FieldId,
        object: Option<ValueId>,
        write: bool,
        leaked: &Leaked,
    ) {
        let classes = self.translator.world.table();
        let initializes = classes.is_class_initializer(self.key.method)
            && classes.method(self.key.method).class == classes.field(field).class;
        let confined = match object {
            Some(object) => self.is_confined(object, leaked),
            None => initializes,
        };
        let actuals = self.on(object, field);
        let site = self.site(line, What::Access { field, write });
        let field = self.translator.field(field);
        self.push(
            Effect::Access {
                field,
                actuals,
                write,
                confined,
            },
            site,
        );
    }

    /// The elements of an array, or the content of a collection.
    fn elements(&mut self, line: u16, value: ValueId, write: bool, many: bool, leaked: &Leaked) {
        if self.is_confined(value, leaked) {
            return;
        }
        let t = &*self.translator;
        let mut sources: Vec<Source> = t
            .content
            .sources(t.world, self.shape, value)
            .into_iter()
            .collect();
        sources.sort_unstable();
        for source in sources {
            match source {
                Source::Field(_, field) if !write && self.translator.world.is_frozen(field) => {}
                Source::Field(object, field) => {
                    let t = &*self.translator;
                    if t.content.owns(t.world, field) {
                        self.owned(line, object, field, write, many, leaked);
                    } else {
                        self.unowned(line, value, Some(field), write, many);
                    }
                }
                // What a caller passes, the caller accounts for; strangers' arrays are nobody's.
                Source::Param(_) if !self.translator.world.is_open(self.key.method) => {}
                // Never given to anyone.
                Source::Made(_) => {}
                Source::Param(_) | Source::Other => self.unowned(line, value, None, write, many),
            }
        }
    }

    fn owned(
        &mut self,
        line: u16,
        object: Option<ValueId>,
        field: untorn_program::FieldId,
        write: bool,
        many: bool,
        leaked: &Leaked,
    ) {
        let confined = object.is_some_and(|object| self.is_confined(object, leaked));
        let actuals = self.on(object, field);
        let site = self.site(line, What::Elements { field, write });
        let field = self.translator.content_of(field);
        let effect = Effect::Access {
            field,
            actuals,
            write,
            confined,
        };
        if many {
            self.push_repeated(effect, site);
        } else {
            self.push(effect, site);
        }
    }

    fn unowned(
        &mut self,
        line: u16,
        value: ValueId,
        field: Option<untorn_program::FieldId>,
        write: bool,
        many: bool,
    ) {
        let world = self.translator.world;
        let class = self.shape.body.ty(value).class();
        let array = class.filter(|&c| matches!(world.table().class(c).kind, ClassKind::Array(_)));
        let single = array.is_some_and(|class| !has_wide_elements(world, class)) && !many;
        let does = if single {
            Atomicity::ATOMIC
        } else {
            Atomicity::CMPD
        };
        let site = self.site(line, What::Unowned { field, write });
        self.push(Effect::Does(does), site);
    }

    fn monitor(&mut self, object: ValueId) -> Lock {
        let lock = self.name(object);
        let class = self.shape.body.ty(object).class();
        if class.is_some_and(|class| is_lock_class(self.translator.world, class)) {
            self.translator.locks.monitor(lock)
        } else {
            lock
        }
    }

    fn section(&self, at: InstrId, exit: bool) -> Option<Section> {
        if !self.structured {
            return None;
        }
        let locks = self.translator.world.program.locks(self.key.method);
        let index = locks.regions().iter().position(|region| {
            if exit {
                region.exits.contains(&at)
            } else {
                region.enter == at
            }
        })?;
        Some(Section::new(index))
    }

    fn monitor_enter(&mut self, at: InstrId, object: ValueId, leaked: &Leaked) {
        let protector = self.protector(object, leaked);
        let line = self.shape.body.instr(at).line;
        let lock = self.monitor(object);
        self.translator.record_lock(lock, true);
        if let Some(section) = self.section(at, false) {
            let region = self.translator.region(self.key, self.shape, section);
            let site = self.site(line, What::Entry);
            self.push(
                Effect::Begin {
                    region,
                    asserted: false,
                },
                site,
            );
        }
        let site = self.site(line, What::Acquire(lock));
        self.push(
            Effect::Acquire {
                lock: Some(lock),
                protector,
            },
            site,
        );
    }

    fn monitor_exit(&mut self, at: InstrId, object: ValueId, leaked: &Leaked) {
        let protector = self.protector(object, leaked);
        let line = self.shape.body.instr(at).line;
        let lock = self.monitor(object);
        let site = self.site(line, What::Release(lock));
        self.push(
            Effect::Release {
                lock: Some(lock),
                protector,
            },
            site,
        );
        if self.section(at, true).is_some() {
            self.push(Effect::End, site);
        }
    }

    fn invoke(
        &mut self,
        at: InstrId,
        named: MethodId,
        args: &[ValueId],
        leaked: &Leaked,
    ) -> Taking {
        let line = self.shape.body.instr(at).line;
        let callees = self.translator.world.callees(self.key.method, at);
        let effect = self
            .translator
            .world
            .program
            .library()
            .effect(self.translator.world.table(), named);
        if callees.translated.is_empty()
            && let Some((action, _)) = effect.and_then(|effect| effect.lock)
            && let Some(&receiver) = args.first()
        {
            return self.explicit_lock(line, action, receiver);
        }
        let mut accessed: Vec<(ValueId, bool)> = Vec::new();
        for &callee in &callees.translated {
            for (position, &arg) in args.iter().enumerate() {
                if let Some(&write) = self.translator.touched.get(&(callee, position)) {
                    accessed.push((arg, write));
                }
            }
        }
        for (arg, write) in accessed {
            self.elements(line, arg, write, true, leaked);
        }
        let mut targets = Vec::new();
        // What is only declared is called by its declaration.
        let (declared, library): (Vec<MethodId>, Vec<MethodId>) = (callees.library.iter().copied())
            .partition(|&callee| self.translator.is_declared(callee));
        let unknown = callees.unknown && !self.translator.is_declared(named);
        let believed = (callees.unknown && !unknown).then_some(named);
        for callee in (callees.translated.iter().copied())
            .chain(declared)
            .chain(believed)
        {
            let world = self.translator.world;
            let key = if world.is_translated(callee) {
                Key::called(world, self.key, self.shape, leaked, callee, args)
            } else {
                Key::bodiless(callee)
            };
            if let Some(&receiver) = args.first()
                && !world.table().method(callee).flags.is_static()
                && self.translator.excludes(self.shape, receiver, callee)
            {
                continue;
            }
            let mut actuals = self.translator.call_actuals(self.shape, at, callee, args);
            actuals.0.extend(self.ghost_actuals(callee, args));
            if let Some(method) = self.translator.method(key) {
                targets.push(Target { method, actuals });
            }
        }
        if !targets.is_empty() {
            let site = self.site(line, What::Call(named));
            self.push(Effect::Call(targets), site);
        }
        for callee in library {
            self.library_call(line, callee, args, leaked);
        }
        if unknown {
            let site = self.site(line, What::Unknown(named));
            self.push(Effect::Does(Atomicity::CMPD), site);
        }
        Taking::Nothing
    }

    /// The ghost arguments that a callee gets.
    fn ghost_actuals(&self, callee: MethodId, args: &[ValueId]) -> Vec<(Root, Arg)> {
        let t = &*self.translator;
        if t.ghosts.is_empty() {
            return Vec::new();
        }
        let info = t.world.table().method(callee);
        let receiver = usize::from(!info.flags.is_static());
        let own = t.ghosts.ghost_of(info.class).filter(|_| receiver == 1);
        let params = t.ghosts.params_of(callee, info.params.len());
        own.map(|ghost| (0, ghost))
            .into_iter()
            .chain(params.into_iter().map(|(i, ghost)| (i + receiver, ghost)))
            .filter_map(|(position, ghost)| {
                let arg = t.ghosts.arg(self.key.method, *args.get(position)?);
                Some((Root::Ghost(ghost), arg))
            })
            .collect()
    }

    fn library_call(&mut self, line: u16, callee: MethodId, args: &[ValueId], leaked: &Leaked) {
        let world = self.translator.world;
        if is_clone(world, callee) {
            self.shallow_copy(line, args, leaked);
            return;
        }
        let touched = library_touches(world, self.shape, callee, args);
        let does = self.library_effect(callee, args);
        for (arg, write) in touched {
            self.elements(line, arg, write, true, leaked);
        }
        if does != Atomicity::CONST {
            let site = self.site(line, What::Library(callee));
            self.push(Effect::Does(does), site);
        }
    }

    fn library_effect(&self, callee: MethodId, args: &[ValueId]) -> Atomicity {
        let world = self.translator.world;
        let classes = world.table();
        let receiver = usize::from(!classes.method(callee).flags.is_static());
        if let Some(model) = world.models.find(classes, callee) {
            let harmless = model.calls.iter().all(|operand| {
                let position = match operand {
                    Operand::Receiver => 0,
                    Operand::Arg(index) => index + receiver,
                };
                args.get(position).is_none_or(|&arg| self.is_value(arg))
            });
            return if harmless {
                model.is.into()
            } else {
                Atomicity::CMPD
            };
        }
        let Some(effect) = world.program.library().effect(classes, callee) else {
            return Atomicity::CMPD;
        };
        if effect.view.is_some() {
            return Atomicity::CONST;
        }
        // One step each, unless user code takes part.
        let atomics = classes
            .class_name(classes.method(callee).class)
            .starts_with("java/util/concurrent/atomic/");
        let plain = !classes
            .method_descriptor(callee)
            .contains("Ljava/util/function/")
            && (atomics || args.iter().skip(receiver).all(|&arg| self.is_value(arg)));
        if effect.access.is_some() && plain {
            Atomicity::ATOMIC
        } else {
            Atomicity::CMPD
        }
    }

    /// `Object.clone` reads every field of the receiver, or every element.
    fn shallow_copy(&mut self, line: u16, args: &[ValueId], leaked: &Leaked) {
        let Some(&receiver) = args.first() else {
            return;
        };
        let Some(class) = self.shape.body.ty(receiver).class() else {
            return;
        };
        let classes = self.translator.world.table();
        if matches!(classes.class(class).kind, ClassKind::Array(_)) {
            self.elements(line, receiver, false, true, leaked);
            return;
        }
        for class in related(self.translator.world, class) {
            for field in classes.class(class).fields.clone() {
                if !classes.field(field).flags.is_static() {
                    self.access(line, field, Some(receiver), false, leaked);
                }
            }
        }
    }

    fn explicit_lock(&mut self, line: u16, action: LockAction, receiver: ValueId) -> Taking {
        let t = &mut *self.translator;
        let explicit = explicit(t.world, t.facts, &mut t.locks, self.shape, receiver);
        t.record_lock(explicit.lock, explicit.excludes);
        let lock = Some(explicit.lock);
        match action {
            LockAction::Acquire => {
                let site = self.site(line, What::Acquire(explicit.lock));
                self.push(
                    Effect::Acquire {
                        lock,
                        protector: None,
                    },
                    site,
                );
                Taking::Taken
            }
            LockAction::Release => {
                let site = self.site(line, What::Release(explicit.lock));
                self.push(
                    Effect::Release {
                        lock,
                        protector: None,
                    },
                    site,
                );
                Taking::Nothing
            }
            LockAction::Try => {
                let site = self.site(line, What::Acquire(explicit.lock));
                Taking::Tried(explicit.lock, site)
            }
        }
    }
}

/// What an instruction does to locks.
#[derive(Clone, Copy)]
enum Taking {
    Nothing,
    /// It takes one, unless it throws.
    Taken,
    /// It takes one on a branch that follows.
    Tried(Lock, Site),
}

impl Translator<'_, '_> {
    /// Whether a method is known by its declaration alone.
    fn is_declared(&self, method: MethodId) -> bool {
        !self.world.is_translated(method) && self.method(Key::bodiless(method)).is_some()
    }

    /// Notes what serves as a lock, so that it may be a guard.
    fn record_lock(&mut self, lock: Lock, excludes: bool) {
        let plain = match self.locks.expr(lock) {
            Expr::Shared(base) | Expr::Monitor(base) => base,
            _ => lock,
        };
        match self.locks.expr(plain) {
            Expr::Field(_, field) => {
                let (owner, name) = self.locks.field_parts(field);
                let used = (owner.to_owned(), name.to_owned());
                if excludes {
                    self.used.fields.insert(used);
                } else {
                    self.used.unsure_fields.insert(used);
                }
            }
            Expr::Root(Root::Class(class)) => {
                let class = self.locks.class_text(class).to_owned();
                self.used.classes.insert(class);
            }
            _ => {}
        }
    }

    /// The field as a step of a path.
    pub(super) fn step(&mut self, field: untorn_program::FieldId) -> crate::locks::FieldName {
        field_name(self.world, &mut self.locks, field)
    }
}
