//! Changes to classes of the platform itself: the life of threads, and what reflection shows.
//!
//! Collections, atomics and locks get fields for what would have to be looked up otherwise, and `java.lang.Class` one for where these are.
//! Methods in which threads sleep tell the runtime before and after.
//! `java.lang.Thread` gets a field for our context; the methods that start, end, join and park a thread call the runtime.
//! `Thread.stop`, where there is one, goes through the runtime, which stops no thread in code of ours.
//! `jdk.internal.reflect.Reflection` drops our members, so `getDeclaredFields` and the default `serialVersionUID` do not change.
//!
//! Each call is made once the runtime is [`Ready`]: a platform whose runtime cannot be defined or started runs as without us.
//!
//! Methods are found by name and descriptor; one that a JDK does not have is skipped, so 17 and 25 take the same list.

use untorn_classfile::edit::{Label, Snippet};
use untorn_classfile::read::{Access, PoolIndex};
use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, MethodEditor, Op};

use crate::instrument::{ENTRY, Survey};

/// The class of the runtime that methods of the platform call.
const CALLED: &str = "java/lang/UntornHooks";

/// Where a call goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Entry,
    /// Before each normal return.
    Return,
}

/// A call of the runtime, in a method of the platform.
struct Hook {
    class: &'static str,
    method: &'static str,
    /// `None`: every overload with parameters.
    descriptor: Option<&'static str>,
    at: At,
    call: Call,
}

#[derive(Clone, Copy)]
enum Call {
    /// Of a method that takes `this` as a thread.
    OnThis(&'static str),
    /// Of a method that takes what is returned and gives it back, changed.
    OnResult(&'static str, &'static str),
}

const FIELDS: &str = "([Ljava/lang/reflect/Field;)[Ljava/lang/reflect/Field;";
const METHODS: &str = "([Ljava/lang/reflect/Method;)[Ljava/lang/reflect/Method;";
const THREAD: &str = "java/lang/Thread";
const CLASS: &str = "java/lang/Class";
const VIRTUAL: &str = "java/lang/VirtualThread";
const REFLECTION: &str = "jdk/internal/reflect/Reflection";
const IN_CONTAINER: &str = "(Ljdk/internal/vm/ThreadContainer;)V";

const HOOKS: [Hook; 11] = [
    Hook::on_this(THREAD, "start", Some("()V"), At::Entry, "fork"),
    Hook::on_this(THREAD, "start", Some(IN_CONTAINER), At::Entry, "fork"),
    Hook::on_this(THREAD, "exit", Some("()V"), At::Entry, "exited"),
    // `join()` is `join(0)`.
    Hook::on_this(THREAD, "join", None, At::Return, "joined"),
    Hook::on_this(VIRTUAL, "start", Some(IN_CONTAINER), At::Entry, "fork"),
    // The body of a virtual thread, which returns after the uncaught exception handler.
    Hook::on_this(VIRTUAL, "run", None, At::Return, "exited"),
    // Where it leaves its carrier of its own will.
    Hook::on_this(VIRTUAL, "park", Some("()V"), At::Entry, "parking"),
    Hook::on_this(VIRTUAL, "parkNanos", Some("(J)V"), At::Entry, "parking"),
    Hook::on_this(VIRTUAL, "tryYield", Some("()V"), At::Entry, "parking"),
    Hook::on_result("filterFields", FIELDS),
    Hook::on_result("filterMethods", METHODS),
];

/// Where threads sleep: a class of the platform, and the class and name of the native method that it calls for it.
const SLEEPS: [(&str, &str, &str); 8] = [
    ("java/util/concurrent/locks/LockSupport", UNSAFE, "park"),
    ("java/util/concurrent/ForkJoinPool", UNSAFE, "park"),
    ("sun/nio/ch/EPollSelectorImpl", "sun/nio/ch/EPoll", "wait"),
    ("sun/nio/ch/NioSocketImpl", "sun/nio/ch/Net", "poll"),
    (THREAD, THREAD, "sleep0"),
    (THREAD, OBJECT, "wait"),
    ("java/lang/ref/ReferenceQueue", OBJECT, "wait"),
    ("java/util/TimerThread", OBJECT, "wait"),
];
const OBJECT: &str = "java/lang/Object";
/// The field of `java.lang.Class` that says which bits of their thread's word new objects take over.
const BORN: &str = "$untornBorn";
/// The field of `java.lang.Class` that, in the class of all objects, says that there is a runtime to be called.
const READY: &str = "$untornReady";
/// The field for the word of an object of the platform.
const WORD: &str = "$untornWord";
const UNSAFE: &str = "jdk/internal/misc/Unsafe";

/// Classes whose objects carry what `UntornPlaces` keeps for them: an entry, and those that hold data a word as well.
const CARRIERS: [(&str, bool); 14] = [
    ("java/util/AbstractCollection", true),
    ("java/util/AbstractMap", true),
    ("java/util/Collections$SynchronizedCollection", true),
    ("java/util/Collections$SynchronizedMap", true),
    ("java/util/concurrent/CopyOnWriteArrayList", true),
    ("java/util/concurrent/atomic/AtomicReference", true),
    ("java/util/concurrent/atomic/AtomicLong", true),
    ("java/util/concurrent/atomic/AtomicInteger", true),
    ("java/util/concurrent/atomic/AtomicBoolean", true),
    ("java/util/concurrent/atomic/Striped64", true),
    ("java/util/concurrent/CountDownLatch", false),
    ("java/util/concurrent/Semaphore", false),
    ("java/util/concurrent/FutureTask", false),
    ("java/util/concurrent/CompletableFuture", false),
];

impl Hook {
    const fn on_this(
        class: &'static str,
        method: &'static str,
        descriptor: Option<&'static str>,
        at: At,
        runtime: &'static str,
    ) -> Self {
        Self {
            class,
            method,
            descriptor,
            at,
            call: Call::OnThis(runtime),
        }
    }

    const fn on_result(method: &'static str, runtime: &'static str) -> Self {
        Self {
            class: REFLECTION,
            method,
            descriptor: None,
            at: At::Return,
            call: Call::OnResult("visible", runtime),
        }
    }

    fn applies(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.class == class
            && self.method == method
            && self
                .descriptor
                .map_or(!descriptor.starts_with("()"), |wanted| wanted == descriptor)
    }
}

/// Whether [`edit`] has something to do for a class, by its name with slashes.
pub fn concerns(class: &str) -> bool {
    HOOKS.iter().any(|hook| hook.class == class)
        || CARRIERS.iter().any(|(name, _)| *name == class)
        || SLEEPS.iter().any(|(name, ..)| *name == class)
        || class == CLASS
}

/// The changed class.
pub fn edit(bytes: &[u8]) -> Result<Vec<u8>, EditError> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    let name = editor.class().name.to_string();
    let hidden = Access(Access::PRIVATE.0 | Access::TRANSIENT.0 | Access::SYNTHETIC.0);
    if let Some((_, holds_data)) = CARRIERS.iter().find(|(carrier, _)| *carrier == name) {
        editor.add_field(hidden, ENTRY, "Ljava/lang/Object;")?;
        if *holds_data {
            editor.add_field(hidden, WORD, "J")?;
        }
    }
    if name == CLASS {
        editor.add_field(hidden, "$untornPlaces", "J")?;
        editor.add_field(hidden, "$untornSpent", "I")?;
        // Constructors of collections and atomics read it.
        let seen = Access::PUBLIC
            .with(Access::TRANSIENT)
            .with(Access::SYNTHETIC);
        editor.add_field(seen, BORN, "J")?;
        editor.add_field(seen, READY, "I")?;
    }
    if name == THREAD {
        // Not the name of shadow words, which are found by name in a superclass chain.
        editor.add_field(hidden, "$untornContext", "Ljava/lang/Object;")?;
    }
    for index in 0..editor.class().methods.len() {
        let member = &editor.class().methods[index];
        let (method, descriptor) = (member.name.to_string(), member.descriptor.to_string());
        let hooks: Vec<&Hook> = HOOKS
            .iter()
            .filter(|hook| hook.applies(&name, &method, &descriptor))
            .collect();
        let constructs = method == "<init>" && CARRIERS.contains(&(&*name, true));
        let sleeps = SLEEPS.iter().any(|(class, ..)| *class == name);
        if hooks.is_empty() && !sleeps && !constructs {
            continue;
        }
        let Some(mut body) = editor.method(index)? else {
            continue;
        };
        if constructs {
            give_to_maker(&mut editor, &mut body, &name)?;
        }
        tell_of_sleep(&mut editor, &mut body, &name)?;
        see_to_stop(&mut editor, &mut body, &name)?;
        for hook in hooks {
            let (runtime, descriptor) = match hook.call {
                Call::OnThis(runtime) => (runtime, "(Ljava/lang/Thread;)V"),
                Call::OnResult(runtime, descriptor) => (runtime, descriptor),
            };
            let target = editor.pool.method_ref(CALLED, runtime, descriptor)?;
            let ready = Ready::new(&mut editor)?;
            let places: Vec<Option<usize>> = match hook.at {
                At::Entry => vec![None],
                At::Return => (0..body.insns().len())
                    .filter(|&i| is_return(&body.insns()[i]))
                    .map(Some)
                    .collect(),
            };
            if let Call::OnResult(_, descriptor) = hook.call {
                for index in places.into_iter().flatten() {
                    filter_result(&mut editor, &mut body, index, target, descriptor)?;
                }
                continue;
            }
            for place in places {
                let not_yet = body.new_label();
                let mut code = match place {
                    None => body.at_entry(),
                    Some(index) => body.before(index),
                };
                ready.or_jump(&mut code, not_yet);
                code.local(Op::Aload, 0)
                    .invoke(Op::Invokestatic, target)
                    .bind(not_yet);
            }
        }
        if body.is_edited() {
            editor.put(body)?;
        }
    }
    editor.finish()
}

/// Has the runtime change what is returned at an instruction; its own members must never be seen, so it is asked as soon as it is defined.
fn filter_result<'a>(
    editor: &mut ClassEditor<'a>,
    body: &mut MethodEditor<'a>,
    index: usize,
    target: PoolIndex,
    descriptor: &str,
) -> Result<(), EditError> {
    let result = descriptor.rsplit(')').next().unwrap_or_default();
    let kind = editor.pool.object_type(result)?;
    let kept = body.new_local(kind)?;
    let missing = editor.pool.class("java/lang/NoClassDefFoundError")?;
    let thrown = editor.pool.object_type("java/lang/NoClassDefFoundError")?;
    let [start, end, handler] = [(); 3].map(|()| body.new_label());
    body.before(index)
        .local(Op::Astore, kept)
        .bind(start)
        .local(Op::Aload, kept)
        .invoke(Op::Invokestatic, target)
        .bind(end);
    body.append()
        .bind(handler)
        .frame(&[(kept, kind)], &[thrown])
        .op(Op::Pop)
        .local(Op::Aload, kept)
        .op(Op::Areturn);
    body.protect(start, end, handler, missing, true);
    Ok(())
}

/// Asks whether the runtime may be called; the boot loader's classes are used long before it is there, and it may never be.
#[derive(Clone, Copy)]
struct Ready {
    /// The class of all objects, which has been there from the beginning.
    object: PoolIndex,
    field: PoolIndex,
}

impl Ready {
    fn new(editor: &mut ClassEditor<'_>) -> Result<Self, EditError> {
        Ok(Self {
            object: editor.pool.class(OBJECT)?,
            field: editor.pool.field_ref(CLASS, READY, "I")?,
        })
    }

    /// Jumps if it may not.
    fn or_jump(self, code: &mut Snippet<'_>, not_yet: Label) {
        code.ldc(self.object)
            .field(Op::Getfield, self.field)
            .jump(Op::Ifeq, not_yet);
    }
}

/// In a constructor that calls one of a superclass: the object belongs to the thread that makes it.
fn give_to_maker<'a>(
    editor: &mut ClassEditor<'a>,
    body: &mut MethodEditor<'a>,
    name: &str,
) -> Result<(), EditError> {
    let first = body.after_super(&editor.pool)?;
    let Some(call) = first.and_then(|first| first.checked_sub(1)) else {
        return Ok(());
    };
    let Insn::Invoke { method, .. } = body.insns()[call] else {
        return Ok(());
    };
    if editor.pool.base().method_ref(method)?.class == name {
        return Ok(());
    }
    let born = editor.pool.method_ref(CALLED, "born", "()J")?;
    let word = editor.pool.field_ref(name, WORD, "J")?;
    let object = editor.pool.class(OBJECT)?;
    let ready = editor.pool.field_ref(CLASS, BORN, "J")?;
    let not_yet = body.new_label();
    // Maps are made long before there is a runtime to be called.
    body.after_within(call)
        .ldc(object)
        .field(Op::Getfield, ready)
        .op(Op::Lconst0)
        .op(Op::Lcmp)
        .jump(Op::Ifeq, not_yet)
        .local(Op::Aload, 0)
        .invoke(Op::Invokestatic, born)
        .field(Op::Putfield, word)
        .bind(not_yet);
    Ok(())
}

/// Tells the runtime before and after the calls by which a thread sleeps, however they end.
fn tell_of_sleep<'a>(
    editor: &mut ClassEditor<'a>,
    body: &mut MethodEditor<'a>,
    name: &str,
) -> Result<(), EditError> {
    let mut calls = Vec::new();
    for (index, insn) in body.insns().iter().enumerate() {
        if let Insn::Invoke { method, .. } = insn {
            let called = editor.pool.base().method_ref(*method)?;
            let is_one = |&(class, on, method): &(&str, &str, &str)| {
                class == name && called.class == on && called.name == method
            };
            if SLEEPS.iter().any(is_one) {
                calls.push(index);
            }
        }
    }
    if calls.is_empty() {
        return Ok(());
    }
    let survey = Survey::new(body, &editor.pool)?;
    let sleeping = editor.pool.method_ref(CALLED, "sleeping", "()V")?;
    let awake = editor.pool.method_ref(CALLED, "awake", "()V")?;
    let throwable = editor.pool.object_type("java/lang/Throwable")?;
    let ready = Ready::new(editor)?;
    for index in calls {
        let Some(locals) = survey.needed_locals(index) else {
            continue;
        };
        let [start, end, handler, behind] = [(); 4].map(|()| body.new_label());
        let [before, after, thrown] = [(); 3].map(|()| body.new_label());
        let mut code = body.before(index);
        code.bind(start);
        ready.or_jump(&mut code, before);
        code.invoke(Op::Invokestatic, sleeping).bind(before);
        let mut code = body.after_within(index);
        ready.or_jump(&mut code, after);
        code.invoke(Op::Invokestatic, awake).bind(after).bind(end);
        let mut code = body.append();
        code.bind(handler).frame(&locals, &[throwable]);
        ready.or_jump(&mut code, thrown);
        code.invoke(Op::Invokestatic, awake)
            .bind(thrown)
            .op(Op::Athrow)
            .bind(behind);
        body.protect(start, end, handler, PoolIndex::NONE, true);
        for number in survey.enclosing(index) {
            let range = survey.ranges[number];
            let around = body.label(range.handler);
            body.protect(handler, behind, around, range.catch_type, false);
        }
    }
    Ok(())
}

/// Has the runtime see to it that `Thread.stop` throws something into another thread.
fn see_to_stop<'a>(
    editor: &mut ClassEditor<'a>,
    body: &mut MethodEditor<'a>,
    name: &str,
) -> Result<(), EditError> {
    if name != THREAD {
        return Ok(());
    }
    for index in 0..body.insns().len() {
        let Insn::Invoke { method, .. } = body.insns()[index] else {
            continue;
        };
        let called = editor.pool.base().method_ref(method)?;
        if called.class != THREAD || called.name != "stop0" {
            continue;
        }
        let descriptor = "(Ljava/lang/Thread;Ljava/lang/Object;)V";
        let instead = editor.pool.method_ref(CALLED, "stop", descriptor)?;
        let [not_yet, behind] = [(); 2].map(|()| body.new_label());
        let ready = Ready::new(editor)?;
        let mut code = body.before(index);
        ready.or_jump(&mut code, not_yet);
        code.invoke(Op::Invokestatic, instead)
            .jump(Op::Goto, behind)
            .bind(not_yet);
        body.after_within(index).bind(behind);
    }
    Ok(())
}

fn is_return<L>(insn: &Insn<L>) -> bool {
    matches!(
        insn,
        Insn::Plain(Op::Return | Op::Ireturn | Op::Areturn | Op::Lreturn)
    )
}
