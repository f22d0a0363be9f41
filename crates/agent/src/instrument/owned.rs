//! Optimistic tracking: a way around the runtime for private objects, polls, and the words of new objects.
//!
//! A private object's word equals `UntornThread.mine`, so the test is a load, a load and a comparison:
//!
//! ```text
//!     getfield                                        putfield
//!
//!                                                     dup2; pop
//!     dup; ifnull FAST                                dup; ifnull FAST
//!     dup; getfield $untorn; aload context; getfield mine; lcmp; ifeq FAST
//!     dup; SITE; aload context; touch                 dup; SITE; aload context; touch
//! FAST: getfield                                  FAST: pop; putfield
//! ```
//!
//! A first run, which records no access, tests in the same way whether the object is read-shared and this thread may read it.
//! Where the object is `this`, it is loaded anew instead of copied, and cannot be null.
//! The runtime records an access before it is made, and nothing is to be done behind it: what is private, owned or locked stays so until the thread's next safe point.
//! So there is nothing to clean up either, and no exception range.
//!
//! The test stands at every site, not in a method of the runtime: a site that never saw another thread's object then compiles to a test and a trap, and the JIT removes a test that repeats another.
//! That is right since ownership changes only at safe points, over which the JIT moves nothing: the polls at method entry and before jumps backwards, and native calls.
//! What the runtime does stands there as one call and is not inlined: with it, methods would be so large that the JIT takes several times as long.
//! With a class that is not watched between the one that is named and the one that declares the field, an object has two words and this may be the wrong one; then an access can go unrecorded, which makes no false finding.
//! Nothing between the record and the access loads a class: the context's class is resolved at method entry, the object's by the load of its word, or else by a cast that never fails.

use untorn_classfile::edit::Snippet;
use untorn_classfile::read::{Access, MemberRef, PoolIndex};
use untorn_classfile::{Insn, Op};

use super::weave::{CONTEXT, RUNTIME, Result, Weaver};
use super::{Extent, SHADOW};

/// Added to a word that is read-shared, gives its number above the least of all numbers: `UntornThread.seen` says up to which one this thread may read.
/// Any other word becomes greater than that.
const SHARED: i64 = i64::MIN.wrapping_sub(3 << 60);

/// What an access takes from the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    /// It is on top.
    Top,
    /// It is below a value of so many slots.
    Below(u8),
    /// It is what the method was called on.
    This,
}

impl Object {
    /// Puts a copy on top for the test.
    fn copy(self, code: &mut Snippet<'_>) {
        match self {
            Self::Top | Self::Below(_) => code.op(Op::Dup),
            Self::This => code.local(Op::Aload, 0),
        };
    }
}

impl Weaver<'_, '_> {
    /// Records an access to an instance field, named through that class, before it is made.
    pub(super) fn touch_field(
        &mut self,
        index: usize,
        op: Op,
        (class, two_slots): (&str, bool),
        site: i32,
    ) -> Result<()> {
        let context = self.context()?;
        let touch = self.entry("touch", "Ljava/lang/Object;I")?;
        let object = if !self.facts.is_static && self.survey.takes_this(index) {
            Object::This
        } else if op == Op::Getfield {
            Object::Top
        } else {
            Object::Below(if two_slots { 2 } else { 1 })
        };
        let tested = self.extent == Extent::Everything;
        let word = self.pool.field_ref(class, SHADOW, "J")?;
        let mine = self.pool.field_ref(CONTEXT, "mine", "J")?;
        let seen = if op == Op::Getfield && self.subject.plan.is_first {
            Some(self.pool.field_ref(CONTEXT, "seen", "J")?)
        } else {
            None
        };
        let named = self.pool.class(class)?;
        let fast = self.body.new_label();
        let mut code = self.body.before(index);
        match object {
            Object::Below(1) => {
                code.op(Op::Dup2).op(Op::Pop);
            }
            Object::Below(_) => {
                code.op(Op::Dup2X1).op(Op::Pop2).op(Op::DupX2);
            }
            Object::Top | Object::This => {}
        }
        if tested {
            if object != Object::This {
                code.op(Op::Dup).jump(Op::Ifnull, fast);
            }
            object.copy(&mut code);
            code.field(Op::Getfield, word)
                .local(Op::Aload, context)
                .field(Op::Getfield, mine)
                .op(Op::Lcmp)
                .jump(Op::Ifeq, fast);
            if let Some(seen) = seen {
                object.copy(&mut code);
                code.field(Op::Getfield, word)
                    .push_long(SHARED, self.pool)?
                    .op(Op::Ladd)
                    .local(Op::Aload, context)
                    .field(Op::Getfield, seen)
                    .op(Op::Lcmp)
                    .jump(Op::Ifle, fast);
            }
        }
        object.copy(&mut code);
        if !tested {
            code.class(Op::Checkcast, named);
        }
        code.push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, touch);
        if tested {
            code.bind(fast);
        }
        if matches!(object, Object::Below(_)) {
            code.op(Op::Pop);
        }
        Ok(())
    }

    /// Records an access to a static field by its id before it is made.
    pub(super) fn touch_static(
        &mut self,
        index: usize,
        (field, two_slots, own): (PoolIndex, bool, bool),
        id: u32,
        site: i32,
    ) -> Result<()> {
        let context = self.context()?;
        let touch = self.entry("touchStatic", "II")?;
        let mut code = self.body.before(index);
        if !own {
            code.field(Op::Getstatic, field)
                .op(if two_slots { Op::Pop2 } else { Op::Pop });
        }
        code.push_int(id as i32, self.pool)?
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, touch);
        Ok(())
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
        if !of_interest || self.survey.leads_back(index, &self.body) {
            return Ok(());
        }
        if self.is_short(start, index) {
            self.counts.add("polls left out: loops over arrays");
            return Ok(());
        }
        self.ask(index)?;
        self.counts.add("polls");
        Ok(())
    }

    /// Whether the innermost of several loops touches no word and calls nothing.
    ///
    /// With a poll in it the JIT neither unrolls such a loop nor moves what it reads out of it; the loop around it polls.
    fn is_short(&self, start: usize, index: usize) -> bool {
        let insns = self.body.insns();
        let goes_back = |at: usize, to: usize| {
            let mut targets = insns[at].targets();
            targets.any(|target| self.body.target(target).is_some_and(|place| place <= to))
        };
        let plain = insns[start..index].iter().all(|insn| match insn {
            Insn::Field { field, .. } => self.is_constant(*field),
            Insn::Invoke { .. } | Insn::InvokeDynamic { .. } => false,
            _ => true,
        });
        plain
            && !self.subject.plan.arrays
            && !self.facts.is_initializer()
            && !(start..index).any(|at| goes_back(at, at) && !goes_back(at, start))
            && (index + 1..insns.len()).any(|at| goes_back(at, start.saturating_sub(1)))
    }

    /// Whether a field is final and the class's own, so that accesses to it are not recorded.
    fn is_constant(&self, field: PoolIndex) -> bool {
        let Ok(named) = self.pool.base().field_ref(field) else {
            return false;
        };
        let class = self.subject.class;
        let same = |own: &&untorn_classfile::read::Field<'_>| {
            own.name == named.name && own.descriptor == named.descriptor
        };
        let mut own = class.fields.iter().filter(same);
        named.class == class.name && own.any(|own| own.access.has(Access::FINAL))
    }

    /// Puts a poll before a call by which a thread gives its processor away: a word that it has locked is free meanwhile.
    ///
    /// A loop that waits for another thread's write spends most of its time there, and the other one needs the word.
    pub(super) fn yielding_call(&mut self, index: usize, called: &MemberRef<'_>) -> Result<()> {
        let waits = match &*called.class {
            "java/lang/Thread" => matches!(&*called.name, "yield" | "sleep" | "onSpinWait"),
            "java/util/concurrent/TimeUnit" => called.name == "sleep",
            _ => false,
        };
        if waits && self.subject.plan.optimistic {
            self.ask(index)?;
            self.counts.add("polls");
        }
        Ok(())
    }

    /// Puts a poll before an instruction.
    pub(super) fn ask(&mut self, index: usize) -> Result<()> {
        let answer = self.entry("answer", "")?;
        let asked = self.pool.field_ref(CONTEXT, "poll", "I")?;
        let context = self.context()?;
        let not_asked = self.body.new_label();
        self.body
            .before(index)
            .local(Op::Aload, context)
            .field(Op::Getfield, asked)
            .jump(Op::Ifeq, not_asked)
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, answer)
            .bind(not_asked);
        Ok(())
    }

    /// Whether a field is accessed of an object that this constructor makes and has told nobody of: it is private.
    pub(super) fn is_under_construction(&self, index: usize) -> bool {
        self.subject.plan.elides
            && self.survey.takes_this(index)
            && self.survey.is_unused(index)
            && self.made_at.is_some()
    }

    /// Gives a new object to the thread that makes it.
    ///
    /// Right after the constructor of `Object` nobody else can know it yet; after that of another class the runtime looks.
    /// While accesses to objects of its class are recorded, the word stays 0 until the first one.
    pub(super) fn born(&mut self) -> Result<()> {
        if !self.subject.plan.optimistic || !self.subject.shadowed {
            return Ok(());
        }
        let Some(call) = self.made_at.or(self.made_by_another()?) else {
            return Ok(());
        };
        let name = self.subject.class.name.to_string();
        let this = self.pool.object_type(&name)?;
        let mut states = self.body.states(self.pool)?;
        if states.at(call + 1)?.map(|state| state.local(0)) != Some(this) {
            return Ok(());
        }
        let context = self.context()?;
        if self.made_at.is_none() {
            let made = self.entry("made", "Ljava/lang/Object;")?;
            self.body
                .after_within(call)
                .local(Op::Aload, 0)
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, made);
            return Ok(());
        }
        let word = self.pool.field_ref(&name, SHADOW, "J")?;
        let born = self.pool.method_ref(
            RUNTIME,
            "word",
            &format!("(Ljava/lang/Object;L{CONTEXT};)J"),
        )?;
        self.body
            .after_within(call)
            .local(Op::Aload, 0)
            .local(Op::Aload, 0)
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, born)
            .field(Op::Putfield, word);
        Ok(())
    }

    /// The call of the constructor of a superclass that is not watched.
    fn made_by_another(&mut self) -> Result<Option<usize>> {
        if &*self.facts.name != "<init>" {
            return Ok(None);
        }
        let first = self.body.after_super(self.pool)?;
        let Some(call) = first.and_then(|first| first.checked_sub(1)) else {
            return Ok(None);
        };
        let Insn::Invoke { method, .. } = self.body.insns()[call] else {
            return Ok(None);
        };
        let of_super = self.pool.base().method_ref(method)?.class != self.subject.class.name;
        Ok(of_super.then_some(call))
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
