//! What optimistic tracking adds: a way around the runtime for private objects, polls, and the words of new objects.
//!
//! A private object's word equals `UntornThread.mine`, so the test is a load, a load and a comparison:
//!
//! ```text
//!     dup; ifnull TOUCH                                         dup; ifnull TOUCH
//!     dup; getfield $untorn; aload context; getfield mine       (the same)
//!     lcmp; ifeq FAST                                           lcmp; ifeq FAST
//! TOUCH: touch                                            TOUCH: touch; putfield; unlock; goto DONE
//! FAST: getfield                                          FAST: pop; putfield
//!     aload context; getfield held; ifnull DONE           DONE:
//!     unlock
//! DONE:
//! ```
//!
//! A read stands there once, since the JVM finds out which expression was null by looking for the one instruction that made it.
//!
//! It stands at every site, not in a method of the runtime: a site that never saw another thread's object then compiles to a test and a trap, and the JIT removes a test that repeats another.
//! That is right since ownership changes only at safe points, over which the JIT moves nothing: the polls at method entry and before jumps backwards, and native calls.
//! With a class that is not watched between the one that is named and the one that declares the field, an object has two words and this may be the wrong one; then an access can go unrecorded, which makes no false finding.
//! Nothing between the load of the word and the access loads a class: the context's class is resolved at method entry, the object's by the load itself.

use untorn_classfile::edit::{Label, Snippet};
use untorn_classfile::read::{MemberRef, PoolIndex};
use untorn_classfile::{Insn, Op};

use super::weave::{CONTEXT, Result, Weaver};
use super::{Extent, SHADOW};

/// The way around lock and unlock of one access.
#[derive(Debug)]
pub(super) struct Bypass {
    word: PoolIndex,
    mine: PoolIndex,
    held: PoolIndex,
    lock: Label,
    fast: Label,
    done: Label,
}

impl Bypass {
    /// Tests the object on top of the stack, and leaves it there.
    pub(super) fn test(&self, code: &mut Snippet<'_>, context: u16) {
        code.op(Op::Dup)
            .jump(Op::Ifnull, self.lock)
            .op(Op::Dup)
            .field(Op::Getfield, self.word)
            .local(Op::Aload, context)
            .field(Op::Getfield, self.mine)
            .op(Op::Lcmp)
            .jump(Op::Ifeq, self.fast)
            .bind(self.lock);
    }

    /// Goes on to a read without the runtime.
    pub(super) fn join(&self, code: &mut Snippet<'_>) {
        code.bind(self.fast);
    }

    /// After a read: skips what frees the word if there is none.
    pub(super) fn skip(&self, code: &mut Snippet<'_>, context: u16) {
        code.local(Op::Aload, context)
            .field(Op::Getfield, self.held)
            .jump(Op::Ifnull, self.done);
    }

    /// The end of a read, or a write again, without the runtime and with the object that was tested on top.
    pub(super) fn land(&self, code: &mut Snippet<'_>, op: Op, field: PoolIndex) {
        if op == Op::Putfield {
            code.jump(Op::Goto, self.done)
                .bind(self.fast)
                .op(Op::Pop)
                .field(op, field);
        }
        code.bind(self.done);
    }
}

impl Weaver<'_, '_> {
    /// The way around for a field, named through that class, if it can have one.
    pub(super) fn bypass(&mut self, class: &str, is_static: bool) -> Result<Option<Bypass>> {
        if !self.subject.plan.optimistic || is_static || self.extent != Extent::Everything {
            return Ok(None);
        }
        Ok(Some(Bypass {
            word: self.pool.field_ref(class, SHADOW, "J")?,
            mine: self.pool.field_ref(CONTEXT, "mine", "J")?,
            held: self.pool.field_ref(CONTEXT, "held", "Ljava/lang/Object;")?,
            lock: self.body.new_label(),
            fast: self.body.new_label(),
            done: self.body.new_label(),
        }))
    }

    /// Puts a poll before a jump backwards, unless the loop has nothing that takes time or touches objects.
    pub(super) fn poll(&mut self, index: usize) -> Result<()> {
        if !self.subject.plan.optimistic {
            return Ok(());
        }
        let insns = self.body.insns();
        let Some(start) = insns[index]
            .targets()
            .filter_map(|target| self.body.target(target))
            .filter(|&target| target <= index)
            .min()
        else {
            return Ok(());
        };
        let of_interest = insns[start..index]
            .iter()
            .any(|insn| matches!(insn, Insn::Field { .. } | Insn::Invoke { .. }));
        if of_interest && !self.survey.leads_back(index, &self.body) {
            let poll = self.entry("poll", "")?;
            let context = self.context()?;
            self.body
                .before(index)
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, poll);
            self.counts.add("polls");
        }
        Ok(())
    }

    /// Gives a new object to the thread that makes it, where nobody else can know it yet: right after the constructor of `Object`.
    pub(super) fn born(&mut self) -> Result<()> {
        if !self.subject.plan.optimistic || !self.subject.shadowed || self.facts.name != "<init>" {
            return Ok(());
        }
        let Some(first) = self.body.after_super(self.pool)? else {
            return Ok(());
        };
        let Some(call) = first.checked_sub(1) else {
            return Ok(());
        };
        let Insn::Invoke { method, .. } = self.body.insns()[call] else {
            return Ok(());
        };
        if self.pool.base().method_ref(method)?.class != "java/lang/Object" {
            return Ok(());
        }
        let name = self.subject.class.name.to_string();
        let this = self.pool.object_type(&name)?;
        let mut states = self.body.states(self.pool)?;
        if states.at(first)?.map(|state| state.local(0)) != Some(this) {
            return Ok(());
        }
        let word = self.pool.field_ref(&name, SHADOW, "J")?;
        let born = self.pool.field_ref(CONTEXT, "born", "J")?;
        let context = self.context()?;
        self.body
            .after_within(call)
            .local(Op::Aload, 0)
            .local(Op::Aload, context)
            .field(Op::Getfield, born)
            .field(Op::Putfield, word);
        Ok(())
    }

    /// A clone is an object of its own: its word starts anew.
    pub(super) fn clone_call(
        &mut self,
        index: usize,
        op: Op,
        called: &MemberRef<'_>,
    ) -> Result<()> {
        let copies = op == Op::Invokespecial
            && called.name == "clone"
            && called.descriptor == "()Ljava/lang/Object;"
            && !(self.subject.plan).watches(&called.class.replace('/', "."));
        if !copies || self.subject.facts.is_interface {
            return Ok(());
        }
        let name = self.subject.class.name.to_string();
        let class = self.pool.class(&name)?;
        let word = self.pool.field_ref(&name, SHADOW, "J")?;
        let other = self.body.new_label();
        self.body
            .after_within(index)
            .op(Op::Dup)
            .class(Op::Instanceof, class)
            .jump(Op::Ifeq, other)
            .op(Op::Dup)
            .class(Op::Checkcast, class)
            .op(Op::Lconst0)
            .field(Op::Putfield, word)
            .bind(other);
        Ok(())
    }
}
