//! Monitors: blocks, `wait` and `notify`, and the regions that blocks are.
//!
//! The JIT compiles a method only if everything that can throw while a monitor is held is covered by a handler that catches all.
//! So the calls after a `monitorenter` stand where the compiler's own range for the block begins, and those before a `monitorexit` where it still holds.
//!
//! In the handler that compilers write for the exceptional exit, that range leads back to the handler itself.
//! A call there that fails for lack of stack would run again and again; it gets a handler of its own, which goes on with the `monitorexit` as if the call had returned.

use untorn_classfile::read::{MemberRef, PoolIndex, VType};
use untorn_classfile::{MethodEditor, Op};

use super::guard::{Argument, Cleanup, Guards};
use super::weave::{CONTEXT, Category, Events, HOOKS, OBJECT, Result, Side, Weaver};

impl Weaver<'_, '_> {
    /// Instruments a `monitorenter`, that of the method's block with this number from 1.
    pub(super) fn monitor_enter(&mut self, index: usize, block: u32) -> Result<()> {
        if !self.block_region(index, block) && self.is_lone_lock(Some(block)) {
            self.lone.insert(block);
            return Ok(());
        }
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let context = self.context()?;
        let acquired = self.entry("acquired", "Ljava/lang/Object;I")?;
        let entering = self.entry("entering", "Ljava/lang/Object;")?;
        let mut begin = None;
        if self.block_region(index, block) {
            let id = self.region_of_block(index, block);
            self.counts.add("regions: blocks");
            begin = Some((self.entry("begin", "I")?, id));
        }
        let lock = self.temporary(Category::Reference, 0)?;
        let open = self.pool.field_ref(CONTEXT, "open", "J")?;
        let object = self.pool.class(OBJECT)?;
        let mark = self.mark_at(index);
        let mut code = self.body.before(index);
        code.op(Op::Dup)
            .op(Op::Dup)
            .class(Op::Checkcast, object)
            .local(Op::Astore, lock)
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, entering);
        if let Some(mark) = mark {
            code.local(Op::Aload, context)
                .field(Op::Getfield, open)
                .local(Op::Lstore, mark);
        }
        let covered = self.first_covered(index + 1);
        let mut code = MethodEditor::into(&mut self.body, covered);
        if let Some((begin, region)) = begin {
            code.push_int(region, self.pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, begin);
        }
        code.local(Op::Aload, lock)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, acquired)
            .op(Op::AconstNull)
            .local(Op::Astore, lock);
        self.counts.add("sites: blocks");
        Ok(())
    }

    /// The first instruction from here on, in a straight line, that a range catching all covers; this one if there is none.
    fn first_covered(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.body.insns().len() {
            if self.survey.catches_all(at) {
                return at;
            }
            let insn = &self.body.insns()[at];
            if !insn.falls_through() || insn.targets().next().is_some() {
                break;
            }
            at += 1;
        }
        from
    }

    /// The local variable with what was open before the block of an instruction that enters or leaves it.
    fn mark_at(&self, index: usize) -> Option<u16> {
        self.marks.get(&self.opened_at(index)?).copied()
    }

    fn block_region(&self, index: usize, block: u32) -> bool {
        self.subject.is_region(self.facts, Some(block)) && self.mark_at(index).is_some()
    }

    fn region_of_block(&mut self, index: usize, block: u32) -> i32 {
        let line = self.line(index);
        let method = self.method_id();
        let id = self.subject.region(self.facts, method, Some(block), line);
        self.blocks.insert(block, id);
        id
    }

    /// Instruments a `monitorexit`.
    pub(super) fn monitor_exit(&mut self, index: usize) -> Result<()> {
        let closed = self.survey.closes(index);
        if closed.is_some_and(|block| self.lone.contains(&block)) {
            return Ok(());
        }
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let mut events = Events::default();
        let block = self.survey.closes(index);
        if let Some(&region) = block.and_then(|block| self.blocks.get(&block)) {
            events.region(self.entry("begin", "I")?, self.entry("end", "IJ")?, region);
        }
        events.mark = self.mark_at(index);
        let acquired = self.entry("acquired", "Ljava/lang/Object;I")?;
        let releasing = if events.mark.is_some() {
            self.entry("releasing", "Ljava/lang/Object;IJ")?
        } else {
            self.entry("releasingLast", "Ljava/lang/Object;I")?
        };
        events.lock(acquired, releasing, site);
        let context = self.context()?;
        // An exception that no handler of the block gets would leave the monitor locked.
        let swallows = self.survey.leads_back(index, &self.body) || !self.survey.catches_all(index);
        if swallows && self.release_in_handler(index, &events)? {
            return Ok(());
        }
        let lock = self.temporary(Category::Reference, 0)?;
        let object = self.pool.class(OBJECT)?;
        let mut code = self.body.before(index);
        code.op(Op::Dup)
            .class(Op::Checkcast, object)
            .local(Op::Astore, lock);
        events.write(&mut code, Side::Out, Some(lock), context, self.pool)?;
        code.op(Op::AconstNull).local(Op::Astore, lock);
        Ok(())
    }

    /// Inserts calls before a `monitorexit` so that an exception in them is dropped; says whether it could.
    fn release_in_handler(&mut self, index: usize, events: &Events) -> Result<bool> {
        let Some(state) = self.survey.state(index).cloned() else {
            return Ok(false);
        };
        let nameable = |kinds: &[VType]| {
            kinds.iter().all(|&kind| {
                !matches!(
                    kind,
                    VType::Uninitialized(_) | VType::UninitializedThis | VType::ReturnAddress
                )
            })
        };
        if !nameable(&state.locals) || !nameable(&state.stack) {
            return Ok(false);
        }
        let mut spilled: Vec<(Category, u16, VType)> = Vec::new();
        for &kind in state.stack.iter().filter(|&&kind| kind != VType::Half) {
            let Some(category) = Category::of(kind) else {
                return Ok(false);
            };
            let taken = spilled.iter().filter(|(known, ..)| *known == category);
            let slot = self.temporary(category, taken.count())?;
            spilled.push((category, slot, kind));
        }
        let Some(&(Category::Reference, lock, _)) = spilled.last() else {
            return Ok(false);
        };
        let context = self.context()?;
        let mut locals: Vec<(u16, VType)> = state
            .locals
            .iter()
            .enumerate()
            .filter(|&(_, &kind)| kind != VType::Half)
            .map(|(slot, &kind)| (slot as u16, kind))
            .collect();
        locals.extend(spilled.iter().map(|&(_, slot, kind)| (slot, kind)));
        locals.extend_from_slice(self.kept());
        let throwable = self.pool.object_type("java/lang/Throwable")?;
        let (start, end) = self.labels();
        let handler = self.body.new_label();
        let mut code = self.body.before(index);
        for &(category, slot, _) in spilled.iter().rev() {
            code.local(category.store(), slot);
        }
        code.bind(start);
        events.write(&mut code, Side::Out, Some(lock), context, self.pool)?;
        code.bind(end).frame(&locals, &[]);
        for &(category, slot, _) in &spilled {
            code.local(category.load(), slot);
        }
        let lost = self.lost()?;
        let (telling, told) = self.labels();
        let untold = self.body.new_label();
        let mut code = self.body.append();
        code.bind(handler)
            .frame(&locals, &[throwable])
            .bind(telling);
        lost.drop(&mut code, context);
        if let Some(mark) = events.mark {
            lost.write(&mut code, mark, context);
        }
        code.bind(told)
            .jump(Op::Goto, end)
            .bind(untold)
            .frame(&locals, &[throwable])
            .op(Op::Pop)
            .jump(Op::Goto, end);
        self.body
            .protect(start, end, handler, PoolIndex::NONE, true);
        // Nothing in it throws, but the JIT does not see that, and compiles no method that could be left with its monitor held.
        // Nor does C1 compile a handler that covers itself.
        self.body
            .protect(telling, told, untold, PoolIndex::NONE, true);
        Ok(true)
    }

    /// Instruments `Object.wait` and its kin; says whether the call was one.
    pub(super) fn object_call(
        &mut self,
        index: usize,
        op: Op,
        called: &MemberRef<'_>,
    ) -> Result<bool> {
        if op != Op::Invokevirtual {
            return Ok(false);
        }
        match (&*called.name, &*called.descriptor) {
            ("notify" | "notifyAll", "()V") => {
                if let Some(site) = self.site(index, None) {
                    let context = self.context()?;
                    let notifying = self.entry("notifying", "Ljava/lang/Object;I")?;
                    self.body
                        .before(index)
                        .op(Op::Dup)
                        .push_int(site, self.pool)?
                        .local(Op::Aload, context)
                        .invoke(Op::Invokestatic, notifying);
                    self.counts.add("sites: notify");
                }
            }
            ("wait", "()V" | "(J)V" | "(JI)V") => self.wait(index, &called.descriptor)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn wait(&mut self, index: usize, descriptor: &str) -> Result<()> {
        if !Guards::possible(&self.survey, index) {
            self.counts.add("sites left out: types not nameable");
            return Ok(());
        }
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let context = self.context()?;
        let lock = self.temporary(Category::Reference, 0)?;
        let mut arguments = Vec::new();
        for (letter, category) in [('J', Category::Long), ('I', Category::Int)] {
            if descriptor.contains(letter) {
                arguments.push((category, self.temporary(category, 0)?));
            }
        }
        let waiting = self.entry("waiting", "Ljava/lang/Object;I")?;
        let woken = self.entry("woken", "Ljava/lang/Object;I")?;
        let sleeping = self.pool.method_ref(HOOKS, "sleeping", "()V")?;
        let cast = self.pool.class(OBJECT)?;
        let (start, end) = self.labels();
        let mut code = self.body.before(index);
        for &(category, slot) in arguments.iter().rev() {
            code.local(category.store(), slot);
        }
        code.op(Op::Dup)
            .class(Op::Checkcast, cast)
            .local(Op::Astore, lock);
        for &(category, slot) in &arguments {
            code.local(category.load(), slot);
        }
        code.bind(start)
            .local(Op::Aload, lock)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, waiting)
            .invoke(Op::Invokestatic, sleeping);
        self.body
            .after_within(index)
            .local(Op::Aload, lock)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, woken)
            .bind(end)
            .op(Op::AconstNull)
            .local(Op::Astore, lock);
        let object = self.pool.object_type(OBJECT)?;
        let cleanup = Cleanup {
            method: woken,
            arguments: vec![Argument::Local(lock), Argument::Number(site)],
        };
        let extra = [(lock, object)];
        self.guards
            .add(&self.survey, index, (start, end), cleanup, &extra);
        self.counts.add("sites: wait");
        Ok(())
    }
}
