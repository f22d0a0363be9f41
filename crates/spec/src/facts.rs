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
    /// Whether it itself, not a callee, calls wait, notify, sleep, park, join or await.
    pub interrupts: bool,
    pub annotations: Vec<String>,
    /// Where its code begins; 0 when unknown.
    pub line: u32,
}

impl MethodFacts {
    /// Constructors and class initializers: their object or class is not shared yet.
    pub fn is_initializer(&self) -> bool {
        self.name.starts_with('<')
    }

    pub fn is_class_initializer(&self) -> bool {
        self.name == "<clinit>"
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

/// Whether a call of this method lets other threads in by its purpose: a region that makes it is not meant to be atomic.
///
/// `class` is the binary name with dots.
pub fn is_interrupting_call(class: &str, method: &str, descriptor: &str) -> bool {
    match method {
        "wait" => descriptor.starts_with("()V") || descriptor.starts_with("(J"),
        "notify" | "notifyAll" => descriptor == "()V",
        "sleep" => class == "java.lang.Thread" || class == "java.util.concurrent.TimeUnit",
        "join" => class == "java.lang.Thread" || class.starts_with("java.util.concurrent."),
        "park" | "parkNanos" | "parkUntil" => class.ends_with(".LockSupport"),
        "await"
        | "awaitNanos"
        | "awaitUntil"
        | "awaitUninterruptibly"
        | "awaitTermination"
        | "arriveAndAwaitAdvance"
        | "awaitAdvance"
        | "exchange" => class.starts_with("java.util.concurrent."),
        _ => false,
    }
}

/// Types of fields that show a class meant for several threads.
fn is_concurrency_type(descriptor: &str) -> bool {
    let element = descriptor.trim_start_matches('[');
    element.starts_with("Ljava/util/concurrent/")
        || element.starts_with("Lkotlinx/coroutines/sync/")
        || element.starts_with("Ljava/lang/invoke/VarHandle;")
}

impl ClassFacts {
    /// Whether the class shows that it expects several threads: it synchronizes, or holds a lock, volatile, atomic or concurrent collection, or says so.
    pub fn expects_threads(&self) -> bool {
        self.annotations.iter().any(|name| name == "ThreadSafe")
            || (self.methods.iter()).any(|method| method.is_synchronized || method.blocks > 0)
            || (self.fields.iter())
                .any(|field| field.is_volatile || is_concurrency_type(&field.descriptor))
    }

    /// Where a thread starts: `main`, and `run` or `call` of a task.
    pub fn is_thread_entry(&self, method: &MethodFacts) -> bool {
        match method.name.as_str() {
            "main" => method.is_static && method.descriptor.ends_with(")V"),
            "run" => method.descriptor == "()V",
            "call" => method.descriptor.starts_with("()"),
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
