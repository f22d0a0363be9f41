//! One method body as a graph of effects.
//!
//! Exceptional edges leave after the instruction's effect, since an effect is never below its beginnings; only a lock that could not be taken is left out.
//! The exceptional exit of a synchronized method needs no node: it is the end of a path that is below one which returns.
//! Class initialization on first use is taken for `const`: it happens once, behind the JVM's own lock.

mod accesses;
mod calls;
mod sync;

use rustc_hash::FxHashSet;
use untorn_classfile::Op as Opcode;
use untorn_program::ir::{Const, Op, Test};
use untorn_program::locks::MethodLock;
use untorn_program::{BlockId, InstrId, ValueId};

use super::Translator;
use super::fields::is_unknown;
use super::fresh::{Leaked, Shape};
use super::names::{class_lock, name};
use super::sites::What;
use super::versions::Key;
use crate::algebra::Atomicity;
use crate::input::{Arg, Effect, Graph, Node, NodeId, Site};
use crate::locks::{Lock, Locks, Root};

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
    /// Section 7.3: nobody but this thread knows the receiver while the method runs, so nobody waits for its lock.
    own_receiver: bool,
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
            own_receiver: key.fresh
                && matches!(locks.method_lock(), Some(MethodLock::Receiver))
                && shape
                    .body
                    .receiver()
                    .is_some_and(|this| shape.leaking_uses(this).is_empty()),
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

    /// What comes next is one of several ways, each of which begins where this one ends.
    fn meet(&mut self, ends: &[Option<NodeId>], line: u16) {
        if let &[end] = ends {
            self.cursor = end;
            return;
        }
        let site = self.site(line, What::Entry);
        let meeting = self.node(Effect::Skip, site);
        for &end in ends {
            self.link(end, meeting);
        }
        self.cursor = Some(meeting);
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
            let acquire = if self.own_receiver {
                Effect::Assume { lock, held: true }
            } else {
                Effect::Acquire {
                    lock: Some(lock),
                    protector: self.method_protector,
                }
            };
            self.push(acquire, site);
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
        let body = self.shape.body;
        // A stamp is compared with zero first.
        let compared = |left: ValueId| match body.defining(left).map(|instr| &instr.op) {
            Some(Op::Compute { op, args }) if *op == Opcode::Lcmp => {
                let zero = body.defining(args[1]).map(|instr| &instr.op);
                matches!(zero, Some(Op::Const(Const::Long(0)))) && args[0] == result
            }
            _ => false,
        };
        match body.terminator(block).op {
            Op::If {
                test,
                left,
                right: None,
            } if left == result || compared(left) => match test {
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
                    let release = if self.own_receiver {
                        Effect::Assume { lock, held: false }
                    } else {
                        Effect::Release {
                            lock: Some(lock),
                            protector: self.method_protector,
                        }
                    };
                    self.push(release, site);
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
