//! What a class file says about a class, as far as it matters for what ought to be atomic.

/// The facts of one class file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassFacts {
    /// The binary name, with dots.
    pub name: String,
    pub super_name: Option<String>,
    pub interfaces: Vec<String>,
    pub is_interface: bool,
    /// Simple names of the annotations, such as `ThreadSafe`.
    pub annotations: Vec<String>,
    /// Whether its code makes something that is meant for several threads, such as a concurrent map, whatever the type of the field that it goes into.
    pub makes_concurrent: bool,
    pub fields: Vec<FieldFacts>,
    pub methods: Vec<MethodFacts>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldFacts {
    pub name: String,
    /// As in the class file, such as `Ljava/util/concurrent/locks/Lock;`.
    pub descriptor: String,
    pub is_static: bool,
    pub is_final: bool,
    pub is_volatile: bool,
    pub annotations: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MethodFacts {
    pub name: String,
    pub descriptor: String,
    pub is_private: bool,
    pub is_static: bool,
    pub is_synchronized: bool,
    /// Made by the compiler: bridges, accessors, bodies of lambdas.
    pub is_synthetic: bool,
    /// Whether it has a body.
    pub has_code: bool,
    /// How many `synchronized` blocks it holds.
    pub blocks: u32,
    /// Whether nobody can say where its blocks end, so that none of them is a region.
    pub unstructured: bool,
    /// Whether it itself, not a callee, calls wait, notify, sleep, park, join, await or a future's get, or spins until another thread has written.
    pub interrupts: bool,
    /// Whether it itself, not a callee, waits for what others do: a part of what interrupts, without sleeping, notifying and joining a thread.
    pub waits: bool,
    /// Whether it gives out a field, and does nothing else.
    pub is_getter: bool,
    /// Whether it itself, not a callee, starts threads.
    pub starts_threads: bool,
    /// Whether it is the body of a lambda that its class hands to a thread or an executor.
    pub is_handed_over: bool,
    /// Whether several threads call it on the same object or class, where somebody knows the whole program.
    pub is_shared: bool,
    /// Whether it makes at most one access or call, so that nothing can come between its parts that does not come between those of the method it calls.
    pub is_tiny: bool,
    pub annotations: Vec<String>,
    /// Where its code begins; 0 when unknown.
    pub line: u32,
}

impl MethodFacts {
    /// Constructors and class initializers: their object or class is not shared yet.
    pub fn is_initializer(&self) -> bool {
        self.name.starts_with('<')
    }

    /// Whether somebody wrote at the method that it ought to be atomic.
    pub fn is_annotated_atomic(&self) -> bool {
        self.annotations.iter().any(|name| name == "Atomic")
    }

    pub fn is_class_initializer(&self) -> bool {
        self.name == "<clinit>"
    }

    /// Whether the compiler made it to reach another method, as bridges and accessors do; the body of a lambda is somebody's code.
    pub fn is_bridge(&self) -> bool {
        self.is_synthetic && !self.name.contains("lambda$")
    }

    /// A Kotlin suspend function may stop in the middle by design.
    pub fn is_suspend(&self) -> bool {
        let parameters = self.descriptor.split(')').next().unwrap_or("");
        parameters.ends_with("Lkotlin/coroutines/Continuation;")
    }

    /// Every method that other classes can call: neither private nor made by the compiler.
    pub fn is_exported(&self) -> bool {
        !self.is_private
            && !self.is_synthetic
            && self.has_code
            && !self.is_initializer()
            && !self.is_suspend()
    }
}

/// Where a thread that makes a call waits for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Before the call does anything.
    Before,
    /// When the call is done: what it takes or gives belongs to what the thread did before, as in `if (!queue.isEmpty()) queue.take()`.
    After,
}

/// Whether it is the purpose of a method that threads wait in it for what others do.
///
/// Taking a lock or a permit is no such waiting: it ends as if nobody else had been there.
/// A sleep waits for nobody, and what a thread does around its own child threads is told apart by analyses.
/// `class` is the binary name with dots.
pub fn waiting_call(class: &str, method: &str, descriptor: &str) -> Option<Waiting> {
    let concurrent = class.starts_with("java.util.concurrent.");
    let timed = descriptor.contains("JLjava/util/concurrent/TimeUnit;)");
    let waits = match method {
        "wait" => descriptor.starts_with("()V") || descriptor.starts_with("(J"),
        "join" => concurrent && descriptor.starts_with("()"),
        "get" => {
            (class.ends_with("Future") || concurrent && class.ends_with("Task"))
                && (descriptor.starts_with("()") || timed)
        }
        "await"
        | "awaitNanos"
        | "awaitUntil"
        | "awaitUninterruptibly"
        | "awaitTermination"
        | "arriveAndAwaitAdvance"
        | "awaitAdvance"
        | "awaitAdvanceInterruptibly"
        | "exchange"
        | "invokeAll"
        | "invokeAny" => concurrent,
        "waitFor" => class == "java.lang.Process",
        _ => false,
    };
    if waits {
        return Some(Waiting::Before);
    }
    let of_queue = concurrent && (class.ends_with("Queue") || class.ends_with("Deque"));
    let moves = match method {
        "take" | "takeFirst" | "takeLast" | "put" | "putFirst" | "putLast" | "transfer" => true,
        "poll" | "pollFirst" | "pollLast" | "offer" | "offerFirst" | "offerLast"
        | "tryTransfer" => timed,
        _ => false,
    };
    let completes = class.ends_with(".CompletionService") && method == "take";
    (of_queue && moves || completes).then_some(Waiting::After)
}

/// Whether a call of this method lets other threads in by its purpose: a region that makes it is not meant to be atomic.
///
/// Queues are no such case: what a method finds out about a queue and then takes from it or puts into it ought to be one step.
/// `class` is the binary name with dots.
pub fn is_interrupting_call(class: &str, method: &str, descriptor: &str) -> bool {
    match method {
        "notify" | "notifyAll" => descriptor == "()V",
        "sleep" => class == "java.lang.Thread" || class == "java.util.concurrent.TimeUnit",
        "park" | "parkNanos" | "parkUntil" => class.ends_with(".LockSupport"),
        "join" if class == "java.lang.Thread" => true,
        _ => waiting_call(class, method, descriptor) == Some(Waiting::Before),
    }
}

/// Whether a call of this method starts a thread; `class` is the binary name with dots.
///
/// A task for an executor is none: who hands it over goes on, and the thread may have been there before.
pub fn is_starting_call(class: &str, method: &str, descriptor: &str) -> bool {
    let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
    match method {
        "start" if descriptor == "()V" => simple.ends_with("Thread"),
        "start" => class.starts_with("java.lang.Thread$Builder"),
        "startVirtualThread" => class == "java.lang.Thread",
        "fork" => class.starts_with("java.util.concurrent."),
        _ => false,
    }
}

/// Whether a lambda that becomes an object of this interface is what a thread runs.
///
/// `interface` is the binary name with dots.
pub fn is_task_type(interface: &str) -> bool {
    matches!(
        interface,
        "java.lang.Runnable"
            | "java.util.concurrent.Callable"
            | "java.util.TimerTask"
            | "java.security.PrivilegedAction"
            | "java.security.PrivilegedExceptionAction"
    )
}

/// Whether a method of this class runs in other threads what it is given; `class` is the binary name with dots.
pub fn runs_elsewhere(class: &str) -> bool {
    if matches!(class, "java.lang.Thread" | "java.util.Timer") {
        return true;
    }
    let concurrent = class.strip_prefix("java.util.concurrent.");
    concurrent.is_some_and(|name| {
        name.contains("Executor")
            || name.contains("ForkJoin")
            || name.starts_with("Completable")
            || name.starts_with("Completion")
            || name.contains("Flow")
    })
}

/// Annotations of methods that a framework calls as it would start a thread: tests and benchmarks.
const STARTED_BY_FRAMEWORK: [&str; 18] = [
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
    "BeforeEach",
    "BeforeAll",
    "AfterEach",
    "AfterAll",
    "Before",
    "After",
    "BeforeClass",
    "AfterClass",
    "Theory",
    "Property",
    "Benchmark",
    "Setup",
    "TearDown",
];

/// Whether a class that makes an object of this one, or calls its static method of this name, expects several threads to use it.
///
/// `class` is the binary name with dots; `method` is `<init>` for an object that is made.
pub fn makes_concurrent(class: &str, method: &str) -> bool {
    let shared = |name: &str| {
        name.starts_with("Concurrent")
            || name.starts_with("CopyOnWrite")
            || name.starts_with("locks.")
            || name.starts_with("atomic.")
            || name.ends_with("Queue")
            || name.ends_with("Deque")
    };
    match class.strip_prefix("java.util.concurrent.") {
        Some(name) => shared(name) && (method == "<init>" || method == "newKeySet"),
        None => class == "java.util.Collections" && method.starts_with("synchronized"),
    }
}

/// Types of fields that show a class meant for several threads.
///
/// Who has an executor gives work to others, which says nothing of who calls it itself.
fn is_concurrency_type(descriptor: &str) -> bool {
    const OF_WORK: [&str; 7] = [
        "Executor;",
        "ExecutorService;",
        "ScheduledExecutorService;",
        "ThreadFactory;",
        "TimeUnit;",
        "Callable;",
        "ForkJoinPool;",
    ];
    let element = descriptor.trim_start_matches('[');
    (element.strip_prefix("Ljava/util/concurrent/")).is_some_and(|name| !OF_WORK.contains(&name))
        || element.starts_with("Lkotlinx/coroutines/sync/")
        || element.starts_with("Lkotlinx/coroutines/flow/Mutable")
        || element.starts_with("Ljava/lang/invoke/VarHandle;")
}

impl ClassFacts {
    /// Whether the class shows that it expects several threads: it synchronizes, or holds a lock, volatile, atomic or concurrent collection, or says so.
    pub fn expects_threads(&self) -> bool {
        self.makes_concurrent
            || self.annotations.iter().any(|name| name == "ThreadSafe")
            || (self.methods.iter()).any(|method| method.is_synchronized || method.blocks > 0)
            || (self.fields.iter())
                .any(|field| field.is_volatile || is_concurrency_type(&field.descriptor))
    }

    /// As [`Self::expects_threads`], for what a method works on: a static field that is guarded says nothing of the objects of its class.
    pub fn expects_threads_in(&self, method: &MethodFacts) -> bool {
        let concerns = |is_static: bool| method.is_static || !is_static;
        self.makes_concurrent
            || self.annotations.iter().any(|name| name == "ThreadSafe")
            || (self.methods.iter()).any(|other| {
                concerns(other.is_static) && (other.is_synchronized || other.blocks > 0)
            })
            || (self.fields.iter()).any(|field| {
                concerns(field.is_static)
                    && (field.is_volatile || is_concurrency_type(&field.descriptor))
            })
    }

    /// Whether a thread, an executor or a framework calls the method to start with.
    pub fn is_started(&self, method: &MethodFacts) -> bool {
        let by_framework = |name: &String| STARTED_BY_FRAMEWORK.contains(&name.as_str());
        self.is_thread_entry(method)
            || method.is_handed_over
            || method.annotations.iter().any(by_framework)
            || self.super_name.as_deref() == Some("junit.framework.TestCase")
                && (method.name.starts_with("test")
                    || matches!(method.name.as_str(), "setUp" | "tearDown"))
    }

    /// Where a thread starts: `main`, `run` or `call` of a task, and where a coroutine is started or goes on.
    pub fn is_thread_entry(&self, method: &MethodFacts) -> bool {
        match method.name.as_str() {
            "main" => method.is_static && method.descriptor.ends_with(")V"),
            "run" => method.descriptor == "()V",
            "call" => method.descriptor.starts_with("()"),
            "invokeSuspend" => {
                let super_name = self.super_name.as_deref().unwrap_or("");
                super_name.starts_with("kotlin.coroutines.jvm.internal.")
            }
            "compute" | "exec" => {
                let super_name = self.super_name.as_deref().unwrap_or("");
                super_name.starts_with("java.util.concurrent.")
                    && method.descriptor.starts_with("()")
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_guards_static_fields_says_nothing_of_objects() {
        let field = |descriptor: &str, is_static| FieldFacts {
            descriptor: descriptor.into(),
            is_static,
            ..FieldFacts::default()
        };
        let (of_class, of_object) = (
            MethodFacts {
                is_static: true,
                ..MethodFacts::default()
            },
            MethodFacts::default(),
        );
        let atomic = "Ljava/util/concurrent/atomic/AtomicInteger;";
        let with = |field| ClassFacts {
            fields: vec![field],
            ..ClassFacts::default()
        };
        let counted = with(field(atomic, true));
        assert!(counted.expects_threads_in(&of_class) && !counted.expects_threads_in(&of_object));
        assert!(with(field(atomic, false)).expects_threads_in(&of_object));
        let working = with(field("Ljava/util/concurrent/Executor;", false));
        assert!(!working.expects_threads_in(&of_object));
    }

    #[test]
    fn a_coroutine_starts_and_goes_on_in_its_body() {
        let method = MethodFacts {
            name: "invokeSuspend".into(),
            descriptor: "(Ljava/lang/Object;)Ljava/lang/Object;".into(),
            ..MethodFacts::default()
        };
        let class = |super_name: &str| ClassFacts {
            super_name: Some(super_name.into()),
            ..ClassFacts::default()
        };
        let lambda = class("kotlin.coroutines.jvm.internal.SuspendLambda");
        assert!(lambda.is_thread_entry(&method) && lambda.is_started(&method));
        let continuation = class("kotlin.coroutines.jvm.internal.ContinuationImpl");
        assert!(continuation.is_thread_entry(&method));
        assert!(!class("shop.Cart").is_thread_entry(&method), "of that name");
    }

    #[test]
    fn suspend_functions_and_initializers_are_not_exported() {
        let method = |name: &str, descriptor: &str| MethodFacts {
            name: name.into(),
            descriptor: descriptor.into(),
            has_code: true,
            ..MethodFacts::default()
        };
        assert!(method("get", "()I").is_exported());
        assert!(!method("<init>", "()V").is_exported());
        assert!(
            !method(
                "load",
                "(ILkotlin/coroutines/Continuation;)Ljava/lang/Object;"
            )
            .is_exported()
        );
        assert!(
            !MethodFacts {
                is_synthetic: true,
                ..method("lambda$0", "()V")
            }
            .is_exported()
        );
    }

    #[test]
    fn interrupting_calls_are_told_from_namesakes() {
        assert!(is_interrupting_call("bank.Account", "wait", "()V"));
        assert!(is_interrupting_call("java.lang.Object", "wait", "(JI)V"));
        assert!(!is_interrupting_call(
            "bank.Waiter",
            "wait",
            "(Ljava/lang/String;)V"
        ));
        assert!(is_interrupting_call("java.lang.Thread", "join", "()V"));
        assert!(!is_interrupting_call(
            "java.lang.String",
            "join",
            "(Ljava/lang/CharSequence;)V"
        ));
        assert!(is_interrupting_call(
            "java.util.concurrent.CountDownLatch",
            "await",
            "()V"
        ));
    }
}
