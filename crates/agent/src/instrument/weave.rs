//! One method: goes over its instructions, then sees to its entry and exits.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_channel::declare;
use untorn_classfile::edit::{Label, Pool, Snippet};
use untorn_classfile::read::{MemberRef, PoolIndex, VType};
use untorn_classfile::{EditError, Insn, MethodEditor, Op};
use untorn_spec::{MethodFacts, Waiting};

use super::checked::Checked;
use super::guard::{Argument, Cleanup, Guards};
use super::survey::Survey;
use super::{Counts, Extent, Subject};

pub(super) const RUNTIME: &str = "java/lang/UntornRuntime";
/// What methods of the platform call, and who calls them.
pub(super) const HOOKS: &str = "java/lang/UntornHooks";
pub(super) const CONTEXT: &str = "java/lang/UntornThread";
/// What a reference is cast to before a local variable of ours keeps it.
///
/// Places that share a handler keep there what they like; the verifier of old class files would load the classes of all of them to see what they have in common, also those that the program does not have and never needs.
pub(super) const OBJECT: &str = "java/lang/Object";
/// The last version whose `ldc` cannot load a class.
const NO_CLASS_CONSTANTS: u16 = 48;

pub(super) type Result<T, E = EditError> = std::result::Result<T, E>;

/// Works on one method.
#[derive(Debug)]
pub(super) struct Weaver<'w, 'a> {
    pub(super) body: MethodEditor<'a>,
    pub(super) pool: &'w mut Pool<'a>,
    pub(super) subject: &'w Subject<'w, 'a>,
    pub(super) facts: &'w MethodFacts,
    pub(super) extent: Extent,
    pub(super) survey: Survey,
    pub(super) guards: Guards,
    pub(super) counts: Counts,
    /// The method's id, once something needed it.
    id: &'w mut Option<u32>,
    lines: Vec<(u32, u32)>,
    /// Local variables that all code of the method has: the context, and the lock of a synchronized method.
    kept: Vec<(u16, VType)>,
    temporaries: Vec<(Category, u16)>,
    /// Where a synchronized method keeps its lock, and what constant names it if it is a class.
    lock: Option<(u16, Option<PoolIndex>)>,
    /// The call of `Object`'s constructor, if this is a constructor that makes it and calls no other of its own object.
    pub(super) made_at: Option<usize>,
    /// Regions of blocks, by the number of the block.
    pub(super) blocks: FxHashMap<u32, i32>,
    /// Blocks that are no regions and whose locks are of one thread.
    pub(super) lone: FxHashSet<u32>,
    /// Local variables with what the thread had open before the method and its blocks.
    pub(super) marks: BTreeMap<Opened, u16>,
    initializer: Option<Initializer>,
    /// In a first run.
    pub(super) checked: Option<Checked>,
}

/// What a local variable can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Int,
    Long,
    Float,
    Double,
    Reference,
}

impl Category {
    /// `None` for what cannot be kept in a local variable and named in a frame.
    pub(super) fn of(kind: VType) -> Option<Self> {
        match kind {
            VType::Integer => Some(Self::Int),
            VType::Long => Some(Self::Long),
            VType::Float => Some(Self::Float),
            VType::Double => Some(Self::Double),
            VType::Null | VType::Object(_) => Some(Self::Reference),
            _ => None,
        }
    }

    pub(super) fn load(self) -> Op {
        match self {
            Self::Int => Op::Iload,
            Self::Long => Op::Lload,
            Self::Float => Op::Fload,
            Self::Double => Op::Dload,
            Self::Reference => Op::Aload,
        }
    }

    pub(super) fn store(self) -> Op {
        match self {
            Self::Int => Op::Istore,
            Self::Long => Op::Lstore,
            Self::Float => Op::Fstore,
            Self::Double => Op::Dstore,
            Self::Reference => Op::Astore,
        }
    }

    fn kind(self) -> VType {
        match self {
            Self::Int => VType::Integer,
            Self::Long => VType::Long,
            Self::Float => VType::Float,
            Self::Double => VType::Double,
            Self::Reference => VType::Null,
        }
    }
}

impl<'w, 'a> Weaver<'w, 'a> {
    pub(super) fn new(
        mut body: MethodEditor<'a>,
        pool: &'w mut Pool<'a>,
        subject: &'w Subject<'w, 'a>,
        facts: &'w MethodFacts,
        extent: Extent,
        id: &'w mut Option<u32>,
    ) -> Result<Self> {
        let survey = Survey::new(&mut body, pool)?;
        let follows = subject.plan.is_first && subject.plan.elides;
        let checked = follows.then(|| Checked::new(&body, &survey, subject.plan.arrays));
        let made_at = match &*facts.name {
            "<init>" => made_at(&mut body, pool)?,
            _ => None,
        };
        let mut lines: Vec<(u32, u32)> = body
            .code()
            .line_numbers()?
            .iter()
            .map(|number| (number.start, number.line.into()))
            .collect();
        lines.sort_unstable();
        Ok(Self {
            body,
            pool,
            subject,
            facts,
            extent,
            survey,
            guards: Guards::default(),
            counts: Counts::default(),
            id,
            lines,
            kept: Vec::new(),
            temporaries: Vec::new(),
            lock: None,
            made_at,
            blocks: FxHashMap::default(),
            lone: FxHashSet::default(),
            marks: BTreeMap::new(),
            initializer: None,
            checked,
        })
    }

    /// The method with everything inserted; `None` if there is nothing to insert.
    pub(super) fn weave(mut self) -> Result<Option<(MethodEditor<'a>, Counts)>> {
        if self.facts.is_synchronized && !self.is_lone_lock(None) {
            self.keep_lock()?;
        }
        self.spinning()?;
        self.keep_marks()?;
        self.keep_initializer()?;
        let mut block = 0;
        for index in 0..self.body.insns().len() {
            let insn = self.body.insns()[index].clone();
            if insn.op() == Op::Monitorenter {
                block += 1;
            }
            if let Some(checked) = &mut self.checked {
                checked.arrive(index);
            }
            if self.survey.is_usual(index) {
                self.insn(index, &insn, block)?;
            }
            if let Some(checked) = &mut self.checked {
                checked.leave(index, &self.body, self.pool);
            }
        }
        self.born()?;
        self.frame()?;
        Ok(self.body.is_edited().then_some((self.body, self.counts)))
    }

    /// Whether it was proved that one thread alone knows the lock of the method, or of its block with this number.
    pub(super) fn is_lone_lock(&mut self, block: Option<u32>) -> bool {
        let lone = self.subject.is_lone_lock(self.facts, block);
        if lone {
            self.counts
                .add("sites left out: locks proved to be of one thread");
        }
        lone
    }

    /// Instruments an instruction.
    fn insn(&mut self, index: usize, insn: &Insn<Label>, block: u32) -> Result<()> {
        match *insn {
            Insn::Plain(Op::Monitorenter) => {
                self.steer_point(index)?;
                self.monitor_enter(index, block)?;
            }
            Insn::Plain(Op::Monitorexit) => self.monitor_exit(index)?,
            Insn::Invoke { op, method, .. } => self.call(index, op, method)?,
            Insn::Jump { .. } | Insn::Switch(_) => self.poll(index)?,
            _ if self.extent == Extent::Order => {}
            Insn::Field { op, field } => self.field(index, op, field)?,
            Insn::Plain(op) if self.extent < Extent::Fields => self.array(index, op)?,
            _ => {}
        }
        Ok(())
    }

    fn call(&mut self, index: usize, op: Op, method: PoolIndex) -> Result<()> {
        let called = self.pool.base().method_ref(method)?;
        if !self.is_content_call(&called) {
            self.steer_point(index)?;
        }
        if self.object_call(index, op, &called)? {
            return Ok(());
        }
        self.waiting_call(index, &called, Waiting::Before)?;
        self.clone_call(index, op, &called)?;
        self.yielding_call(index, &called)?;
        self.thread_call(index, op, &called)?;
        self.library_call(index, op, &called)?;
        self.waiting_call(index, &called, Waiting::After)
    }

    /// Tells where a call stands that may start or join a thread: the platform's own code logs the rest.
    fn thread_call(&mut self, index: usize, op: Op, called: &MemberRef<'_>) -> Result<()> {
        let starts = called.name == "start" && called.descriptor == "()V";
        let joins =
            called.name == "join" && matches!(&*called.descriptor, "()V" | "(J)V" | "(JI)V");
        let may_be_thread = called.class == "java/lang/Thread"
            || self.subject.plan.watches(&called.class.replace('/', "."));
        if op != Op::Invokevirtual || !(starts || joins) || !may_be_thread {
            return Ok(());
        }
        let Some(site) = self.site(index, None) else {
            return Ok(());
        };
        let context = self.context()?;
        let at = self.entry("at", "I")?;
        self.body
            .before(index)
            .push_int(site, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, at);
        self.body
            .after_within(index)
            .push_int(-1, self.pool)?
            .local(Op::Aload, context)
            .invoke(Op::Invokestatic, at);
        self.counts.add("sites: starts and joins of threads");
        Ok(())
    }

    // ---- what insertions need -----------------------------------------------------------------

    /// The local variable with the thread's context.
    pub(super) fn context(&mut self) -> Result<u16> {
        if let Some(&(slot, _)) = self.kept.first() {
            return Ok(slot);
        }
        let kind = self.pool.object_type(CONTEXT)?;
        let slot = self.body.new_kept_local(kind)?;
        self.kept.push((slot, kind));
        Ok(slot)
    }

    /// All local variables that every handler has.
    pub(super) fn kept(&self) -> &[(u16, VType)] {
        &self.kept
    }

    /// The `n`th local variable of a kind that inserted code may use at one place.
    pub(super) fn temporary(&mut self, category: Category, n: usize) -> Result<u16> {
        let known = self
            .temporaries
            .iter()
            .filter(|(kind, _)| *kind == category)
            .nth(n);
        if let Some(&(_, slot)) = known {
            return Ok(slot);
        }
        let slot = self.body.new_local(category.kind())?;
        self.temporaries.push((category, slot));
        Ok(slot)
    }

    /// An entry point of the runtime that takes a context last and gives nothing back.
    pub(super) fn entry(&mut self, name: &str, parameters: &str) -> Result<PoolIndex> {
        let descriptor = format!("({parameters}L{CONTEXT};)V");
        self.pool.method_ref(RUNTIME, name, &descriptor)
    }

    pub(super) fn entry_without_context(
        &mut self,
        name: &str,
        descriptor: &str,
    ) -> Result<PoolIndex> {
        self.pool.method_ref(RUNTIME, name, descriptor)
    }

    pub(super) fn method_id(&mut self) -> u32 {
        let (subject, facts) = (self.subject, self.facts);
        *self.id.get_or_insert_with(|| {
            subject
                .ids
                .method(subject.id, &facts.name, &facts.descriptor)
        })
    }

    pub(super) fn line(&self, index: usize) -> u32 {
        let offset = self.body.offset(index).unwrap_or(0);
        let next = self.lines.partition_point(|&(start, _)| start <= offset);
        next.checked_sub(1).map_or(0, |at| self.lines[at].1)
    }

    /// A new site for an instruction; `None` when the JVM has used up all numbers.
    pub(super) fn site(&mut self, index: usize, access: Option<declare::Access>) -> Option<i32> {
        let line = self.line(index);
        let method = self.method_id();
        let site = self.subject.ids.site(method, line, access);
        if site.is_none() {
            self.counts.add("sites left out: no numbers left");
        }
        site.map(|site| site as i32)
    }

    /// Two labels for the start and the end of what is inserted around an instruction.
    pub(super) fn labels(&mut self) -> (Label, Label) {
        (self.body.new_label(), self.body.new_label())
    }

    /// Sends exceptions at inserted code to a handler that frees the shadow word.
    pub(super) fn guard_access(&mut self, index: usize, place: (Label, Label)) -> Result<()> {
        // Frees whatever word the thread holds; the number of the field is not looked at.
        let method = self.entry("abandonStatic", "I")?;
        let cleanup = Cleanup {
            method,
            arguments: vec![Argument::Number(0)],
        };
        self.guards.add(&self.survey, index, place, cleanup, &[]);
        Ok(())
    }

    // ---- entry and exits ------------------------------------------------------------------------

    /// Inserts what belongs to the method as a whole, and the handlers of everything else.
    fn frame(&mut self) -> Result<()> {
        let region = self.is_region();
        let stacks = self.subject.plan.stacks;
        let locks = self.lock.is_some();
        let waits = self.subject.waiting.has(self.facts);
        // Where the body starts, in a constructor where its object is one.
        let first = self.body.after_super(self.pool)?;
        let surrounded = region || stacks || locks || waits || self.initializer.is_some();
        let Some(first) = first.filter(|_| surrounded) else {
            return self.enter(None);
        };
        self.context()?;
        let mut events = Events {
            initializer: self.initializer,
            ..Events::default()
        };
        if waits {
            events.waits = Some(self.entry("waits", "I")?);
        }
        if stacks {
            let method = self.method_id() as i32;
            events.calls(self.entry("enter", "I")?, self.entry("exit", "I")?, method);
        }
        if region {
            let method = self.method_id();
            let line = self.facts.line;
            let region = self.subject.region(self.facts, method, None, line);
            events.region(self.entry("begin", "I")?, self.entry("end", "IJ")?, region);
            self.counts.add("regions: methods");
        }
        if locks && let Some(site) = self.site(0, None) {
            events.lock(
                self.entry("acquired", "Ljava/lang/Object;I")?,
                self.entry("releasing", "Ljava/lang/Object;IJ")?,
                site,
            );
            self.counts.add("sites: synchronized methods");
        }
        events.mark = self.marks.get(&Opened::Method).copied();
        self.enter(Some((first, events)))
    }

    /// Inserts the method's entry and, if events surround its body, its exits.
    fn enter(&mut self, around: Option<(usize, Events)>) -> Result<()> {
        let Some(&(context, _)) = self.kept.first() else {
            return Ok(());
        };
        let lock = self.lock;
        // Where something is opened, what was lost before is seen to first.
        let marked = !self.marks.is_empty();
        let polls = marked || !self.subject.plan.optimistic || self.calls_others()?;
        let made = self.entry_without_context("context", &format!("(Z)L{CONTEXT};"))?;
        let resolved = self.pool.class(CONTEXT)?;
        let open = self.pool.field_ref(CONTEXT, "open", "J")?;
        let mut code = self.body.at_entry();
        code.push_int(polls.into(), self.pool)?
            .invoke(Op::Invokestatic, made);
        if self.subject.plan.optimistic || marked {
            // Never fails; it makes the JVM load the class here and not between a test and its access, nor where the stack is short.
            code.class(Op::Checkcast, resolved);
        }
        code.local(Op::Astore, context);
        for (&opened, &slot) in &self.marks {
            if opened == Opened::Method {
                code.local(Op::Aload, context).field(Op::Getfield, open);
            } else {
                code.op(Op::Lconst0);
            }
            code.local(Op::Lstore, slot);
        }
        if let Some(flag) = around.as_ref().and_then(|(_, events)| events.flag()) {
            code.op(Op::Iconst0).local(Op::Istore, flag);
        }
        if let Some((slot, source)) = lock {
            match source {
                Some(class) => code.ldc(class),
                None => code.local(Op::Aload, 0),
            };
            code.local(Op::Astore, slot);
        }
        let guards = std::mem::take(&mut self.guards);
        let Some((first, events)) = around else {
            return guards.write(&mut self.body, self.pool, &self.survey, &self.kept);
        };
        let (start, end) = self.labels();
        let lock = lock.map(|(slot, _)| slot);
        let mut code = match first.checked_sub(1) {
            None => self.body.at_entry(),
            Some(call) => self.body.after_within(call),
        };
        code.bind(start);
        events.write(&mut code, Side::In, lock, context, self.pool)?;
        for index in 0..self.body.insns().len() {
            if self.body.insns()[index].is_return() && self.survey.is_usual(index) {
                let mut code = self.body.before(index);
                events.write(&mut code, Side::Out, lock, context, self.pool)?;
            }
        }
        guards.write(&mut self.body, self.pool, &self.survey, &self.kept)?;
        self.exceptional_exit((start, end), &events, lock, context)
    }

    /// The exit by an exception.
    ///
    /// Without stack for the calls, the thread is told by plain stores that they are missing; the program's own exception goes on in any case.
    fn exceptional_exit(
        &mut self,
        (start, end): (Label, Label),
        events: &Events,
        lock: Option<u16>,
        context: u16,
    ) -> Result<()> {
        let handler = self.body.new_label();
        let throwable = self.pool.object_type("java/lang/Throwable")?;
        let Some(mark) = events.mark else {
            let mut code = self.body.append();
            code.bind(end).bind(handler).frame(&self.kept, &[throwable]);
            events.write(&mut code, Side::Out, lock, context, self.pool)?;
            code.op(Op::Athrow);
            self.body
                .protect(start, end, handler, PoolIndex::NONE, false);
            return Ok(());
        };
        let thrown = self.temporary(Category::Reference, 0)?;
        let (telling, told) = self.labels();
        let untold = self.body.new_label();
        let lost = self.lost()?;
        let mut locals = self.kept.clone();
        locals.push((thrown, throwable));
        let mut code = self.body.append();
        code.bind(end)
            .bind(handler)
            .frame(&self.kept, &[throwable])
            .local(Op::Astore, thrown);
        code.bind(telling);
        events.write(&mut code, Side::Out, lock, context, self.pool)?;
        code.bind(told)
            .local(Op::Aload, thrown)
            .op(Op::Athrow)
            .bind(untold)
            .frame(&locals, &[throwable]);
        lost.drop(&mut code, context);
        lost.write(&mut code, mark, context);
        code.local(Op::Aload, thrown).op(Op::Athrow);
        self.body
            .protect(start, end, handler, PoolIndex::NONE, false);
        self.body
            .protect(telling, told, untold, PoolIndex::NONE, false);
        Ok(())
    }

    // ---- what was open ------------------------------------------------------------------------

    /// Whether the method is a region.
    fn is_region(&self) -> bool {
        self.subject.is_region(self.facts, None)
    }

    /// Takes local variables for what is open before the method and its blocks, if they open anything.
    fn keep_marks(&mut self) -> Result<()> {
        let mut wanted = BTreeSet::new();
        if self.lock.is_some() || self.is_region() {
            wanted.insert(Opened::Method);
        }
        for index in 0..self.body.insns().len() {
            if self.body.insns()[index].op() == Op::Monitorenter && self.survey.is_usual(index) {
                wanted.extend(self.opened_at(index));
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        self.context()?;
        for opened in wanted {
            let slot = self.body.new_kept_local(VType::Long)?;
            self.kept.push((slot, VType::Long));
            self.marks.insert(opened, slot);
        }
        Ok(())
    }

    /// The block that a `monitorenter` opens or a `monitorexit` closes.
    pub(super) fn opened_at(&self, index: usize) -> Option<Opened> {
        match *self.body.insns().get(index.checked_sub(1)?)? {
            Insn::Local {
                op: Op::Astore | Op::Aload,
                index,
                ..
            } => Some(Opened::Block(index)),
            _ => None,
        }
    }

    /// What inserted code does where it has no stack for a call.
    pub(super) fn lost(&mut self) -> Result<Lost> {
        Ok(Lost {
            open: self.pool.field_ref(CONTEXT, "lost", "J")?,
            limit: self.pool.field_ref(CONTEXT, "limit", "J")?,
            poll: self.pool.field_ref(CONTEXT, "poll", "I")?,
            dropped: (self.pool).field_ref(CONTEXT, "dropped", "Ljava/lang/Throwable;")?,
        })
    }

    // ---- class initializers -------------------------------------------------------------------

    /// Takes a local variable for whether a class initializer runs in a region, if it does anything that is recorded.
    fn keep_initializer(&mut self) -> Result<()> {
        let is_first = self.subject.plan.is_first;
        if !self.facts.is_class_initializer() || is_first || !self.reaches_out()? {
            return Ok(());
        }
        self.context()?;
        let flag = self.body.new_kept_local(VType::Integer)?;
        self.kept.push((flag, VType::Integer));
        let begins = format!("(L{CONTEXT};)Z");
        self.initializer = Some(Initializer {
            begins: self.entry_without_context("initializing", &begins)?,
            ends: self.entry("initialized", "Z")?,
            flag,
        });
        Ok(())
    }

    /// Whether an initializer calls anything, or uses what is not a static field of its class.
    fn reaches_out(&self) -> Result<bool> {
        for insn in self.body.insns() {
            if let Insn::Field { field, .. } = insn
                && !self.is_own(&self.pool.base().field_ref(*field)?, true)
            {
                return Ok(true);
            }
        }
        self.calls_others()
    }

    /// Whether the method calls anything but the constructor of `Object`.
    fn calls_others(&self) -> Result<bool> {
        for insn in self.body.insns() {
            match insn {
                Insn::Invoke { method, .. } => {
                    let called = self.pool.base().method_ref(*method)?;
                    if called.class != "java/lang/Object" || called.name != "<init>" {
                        return Ok(true);
                    }
                }
                Insn::InvokeDynamic { .. } => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Takes a local variable for the lock of a synchronized method.
    fn keep_lock(&mut self) -> Result<()> {
        let class = self.subject.class;
        if self.facts.is_static && class.major <= NO_CLASS_CONSTANTS {
            self.counts
                .add("locks left out: class file too old to name its class");
            return Ok(());
        }
        self.context()?;
        let (kind, source) = if self.facts.is_static {
            let kind = self.pool.object_type("java/lang/Class")?;
            (kind, Some(class.this_class))
        } else {
            (self.pool.object_type(&class.name)?, None)
        };
        let slot = self.body.new_kept_local(kind)?;
        self.kept.push((slot, kind));
        self.lock = Some((slot, source));
        Ok(())
    }
}

/// The call of `Object`'s constructor in a constructor.
fn made_at(body: &mut MethodEditor<'_>, pool: &Pool<'_>) -> Result<Option<usize>> {
    let first = body.after_super(pool)?;
    let Some(call) = first.and_then(|first| first.checked_sub(1)) else {
        return Ok(None);
    };
    let Insn::Invoke { method, .. } = body.insns()[call] else {
        return Ok(None);
    };
    let made_here = pool.base().method_ref(method)?.class == "java/lang/Object";
    Ok(made_here.then_some(call))
}

/// What a frame opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opened {
    Method,
    /// Blocks whose monitor the compiler keeps in this local variable: no two of them are open at once.
    Block(u16),
}

/// Stores that tell the thread of an exit for which there was no stack: see `UntornRegions.lost`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lost {
    open: PoolIndex,
    limit: PoolIndex,
    poll: PoolIndex,
    dropped: PoolIndex,
}

impl Lost {
    /// Takes an exception from the stack that came out of inserted code, and has the thread look at it.
    pub(super) fn drop(self, code: &mut Snippet<'_>, context: u16) {
        code.local(Op::Aload, context)
            .op(Op::Swap)
            .field(Op::Putfield, self.dropped)
            .local(Op::Aload, context)
            .op(Op::Iconst1)
            .field(Op::Putfield, self.poll);
    }

    pub(super) fn write(self, code: &mut Snippet<'_>, mark: u16, context: u16) {
        code.local(Op::Aload, context)
            .local(Op::Lload, mark)
            .field(Op::Putfield, self.open)
            .local(Op::Aload, context)
            .op(Op::Lconst0)
            .field(Op::Putfield, self.limit)
            .local(Op::Aload, context)
            .op(Op::Iconst1)
            .field(Op::Putfield, self.poll);
    }
}

/// What surrounds a class initializer.
#[derive(Debug, Clone, Copy)]
struct Initializer {
    begins: PoolIndex,
    ends: PoolIndex,
    /// The local variable with what the first gave back.
    flag: u16,
}

/// Which end of a method or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    In,
    Out,
}

/// Events that surround a body, outermost first.
#[derive(Debug, Default)]
pub(super) struct Events {
    initializer: Option<Initializer>,
    /// The entry point for both ends of a method in which threads wait; the number that it takes means nothing.
    waits: Option<PoolIndex>,
    /// Entry points for both ends, and the number that both take.
    calls: Option<(PoolIndex, PoolIndex, i32)>,
    /// The same for a region; its end takes the mark as well.
    region: Option<(PoolIndex, PoolIndex, i32)>,
    /// Entry points for the lock, innermost, and their site; its end takes the mark if there is one.
    lock: Option<(PoolIndex, PoolIndex, i32)>,
    /// The local variable with what was open before.
    pub(super) mark: Option<u16>,
}

impl Events {
    fn flag(&self) -> Option<u16> {
        self.initializer.map(|initializer| initializer.flag)
    }

    fn calls(&mut self, enter: PoolIndex, leave: PoolIndex, method: i32) {
        self.calls = Some((enter, leave, method));
    }

    pub(super) fn region(&mut self, begin: PoolIndex, end: PoolIndex, region: i32) {
        self.region = Some((begin, end, region));
    }

    pub(super) fn lock(&mut self, acquired: PoolIndex, releasing: PoolIndex, site: i32) {
        self.lock = Some((acquired, releasing, site));
    }

    /// Inserts the calls of one end; without a local variable for the lock it is left out.
    pub(super) fn write(
        &self,
        code: &mut Snippet<'_>,
        side: Side,
        lock: Option<u16>,
        context: u16,
        pool: &mut Pool<'_>,
    ) -> Result<()> {
        match side {
            Side::In => self.write_in(code, lock, context, pool),
            Side::Out => self.write_out(code, lock, context, pool),
        }
    }

    fn write_in(
        &self,
        code: &mut Snippet<'_>,
        lock: Option<u16>,
        context: u16,
        pool: &mut Pool<'_>,
    ) -> Result<()> {
        if let Some(Initializer { begins, flag, .. }) = self.initializer {
            code.local(Op::Aload, context)
                .invoke(Op::Invokestatic, begins)
                .local(Op::Istore, flag);
        }
        let waits = self.waits.map(|waits| (waits, waits, 0));
        for (enter, _, number) in [waits, self.calls, self.region].into_iter().flatten() {
            code.push_int(number, pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, enter);
        }
        if let (Some((acquired, _, site)), Some(slot)) = (self.lock, lock) {
            code.local(Op::Aload, slot)
                .push_int(site, pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, acquired);
        }
        Ok(())
    }

    fn write_out(
        &self,
        code: &mut Snippet<'_>,
        lock: Option<u16>,
        context: u16,
        pool: &mut Pool<'_>,
    ) -> Result<()> {
        if let (Some((_, releasing, site)), Some(slot)) = (self.lock, lock) {
            code.local(Op::Aload, slot).push_int(site, pool)?;
            if let Some(mark) = self.mark {
                code.local(Op::Lload, mark);
            }
            code.local(Op::Aload, context)
                .invoke(Op::Invokestatic, releasing);
        }
        if let (Some((_, end, region)), Some(mark)) = (self.region, self.mark) {
            code.push_int(region, pool)?
                .local(Op::Lload, mark)
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, end);
        }
        let waits = self.waits.map(|waits| (waits, waits, 0));
        for (_, leave, number) in [self.calls, waits].into_iter().flatten() {
            code.push_int(number, pool)?
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, leave);
        }
        if let Some(Initializer { ends, flag, .. }) = self.initializer {
            code.local(Op::Iload, flag)
                .local(Op::Aload, context)
                .invoke(Op::Invokestatic, ends);
        }
        Ok(())
    }
}
