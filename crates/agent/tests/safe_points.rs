//! Between the test of a shadow word and the access there is no safe point: nothing native, nothing that loads or initializes a class, nothing that allocates.
//!
//! Walks the bytecode of the runtime, as it is embedded.
//! `docs/internals/tracking.md` says what rests on this: a thread that is seen in native code is taken to be in no access.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

use untorn_classfile::read::{Access, Constant, MemberRef};
use untorn_classfile::{ClassFile, Insn, Op};

static CLASSES: &[(&CStr, &[u8])] = include!(concat!(env!("OUT_DIR"), "/java/classes.rs"));

const UNSAFE: &str = "jdk/internal/misc/Unsafe";
const SHADOW: &str = "java/lang/UntornShadow";
const OWNER: &str = "java/lang/UntornOwner";
const RUNTIME: &str = "java/lang/UntornRuntime";
const BOOT: &str = "java/lang/UntornBoot";
const LOG: &str = "java/lang/UntornLog";
/// As others call it.
const THREAD: &str = "java/lang/UntornThread";

/// What returns to an access that it has recorded.
const RECORDING: [(&str, &str); 9] = [
    (SHADOW, "record"),
    (SHADOW, "lockContended"),
    (SHADOW, "touch"),
    (SHADOW, "touchStatic"),
    (OWNER, "claim"),
    (OWNER, "share"),
    (OWNER, "unshare"),
    (RUNTIME, "touch"),
    (RUNTIME, "touchStatic"),
];
/// What tests a word by itself and records under it, without a lock.
const TESTING: [(&str, &str); 2] = [(SHADOW, "record"), (OWNER, "claim")];

/// An instruction, as far as it matters here.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Nothing that could be a safe point.
    Plain,
    /// Class, name and descriptor, as two methods of one name may differ in this.
    Call(String, String, String),
    /// A safe point, or nearly one, and why.
    Harm(String),
}

#[derive(Debug)]
struct Method {
    descriptor: String,
    steps: Vec<Step>,
    /// Where each instruction leads.
    next: Vec<Vec<usize>>,
    /// Where it leads if what was called just before returned true.
    when_true: Vec<Option<usize>>,
}

#[derive(Debug)]
struct Runtime {
    methods: BTreeMap<(String, String), Vec<Method>>,
    natives: BTreeSet<(String, String)>,
    /// The class that each one extends.
    superclasses: BTreeMap<String, String>,
}

impl Runtime {
    fn read() -> Self {
        let files = CLASSES
            .iter()
            .map(|(_, bytes)| ClassFile::parse(bytes).unwrap());
        let files: Vec<ClassFile<'_>> = files.collect();
        let initialized = initialized_at_boot(&files);
        let mut runtime = Self {
            methods: BTreeMap::new(),
            natives: BTreeSet::new(),
            superclasses: BTreeMap::new(),
        };
        for class in &files {
            if let Some(superclass) = &class.super_name {
                (runtime.superclasses).insert(class.name.to_string(), superclass.to_string());
            }
            for method in &class.methods {
                let name = (class.name.to_string(), method.name.to_string());
                if method.access.has(Access::NATIVE) {
                    runtime.natives.insert(name);
                } else if let Some(code) = method.code(&class.pool).unwrap() {
                    let code = code.decode().unwrap();
                    let body = read(class, &method.descriptor, &code, &initialized);
                    runtime.methods.entry(name).or_default().push(body);
                }
            }
        }
        runtime
    }

    fn method(&self, class: &str, name: &str) -> &Method {
        let found = self.methods.get(&(class.to_owned(), name.to_owned()));
        let found = found.unwrap_or_else(|| panic!("{class}.{name} is there no more"));
        assert_eq!(found.len(), 1, "{class}.{name} has overloads");
        &found[0]
    }

    /// The body that a call runs: the class's own or one that it inherits, else that of the class which extends it, since each layer of a context is extended by one.
    fn body(&self, class: &str, name: &str, descriptor: &str) -> Option<&Method> {
        let own = |class: &str| {
            let bodies = self.methods.get(&(class.to_owned(), name.to_owned()))?;
            bodies.iter().find(|it| it.descriptor == descriptor)
        };
        let mut above = Some(class);
        while let Some(class) = above {
            if let Some(body) = own(class) {
                return Some(body);
            }
            above = self.superclasses.get(class).map(String::as_str);
        }
        let extending = |class: &str| {
            let mut pairs = self.superclasses.iter();
            pairs.find_map(|(name, above)| (above == class).then_some(name.as_str()))
        };
        let mut below = extending(class);
        while let Some(class) = below {
            if let Some(body) = own(class) {
                return Some(body);
            }
            below = extending(class);
        }
        None
    }

    /// A call of that method; of the first one of its name if there are several.
    fn call(&self, class: &str, name: &str) -> Step {
        let named = self.methods.get(&(class.to_owned(), name.to_owned()));
        let descriptor = named.map_or(String::new(), |named| named[0].descriptor.clone());
        Step::Call(class.to_owned(), name.to_owned(), descriptor)
    }

    /// Why a step could be a safe point; `None` if it cannot.
    fn harm(&self, step: &Step, inside: &mut Vec<Step>) -> Option<String> {
        let (class, name, descriptor) = match step {
            Step::Plain => return None,
            Step::Harm(why) => return Some(why.clone()),
            Step::Call(class, name, descriptor) => (class, name, descriptor),
        };
        if class == UNSAFE {
            let is_access = ["get", "put", "compareAndSet"]
                .iter()
                .any(|it| name.starts_with(it));
            return (!is_access && !name.ends_with("Fence"))
                .then(|| format!("calls Unsafe.{name}"));
        }
        // The platform has used this class long before.
        if class == "java/lang/Math" && ["min", "max"].contains(&name.as_str()) {
            return None;
        }
        if inside.contains(step) {
            return None;
        }
        let called = (class.clone(), name.clone());
        if self.natives.contains(&called) {
            return Some(format!("calls the native {name}"));
        }
        let Some(body) = self.body(class, name, descriptor) else {
            return Some(format!("calls {class}.{name}"));
        };
        inside.push(step.clone());
        let mut steps = body.steps.iter();
        steps.find_map(|step| Some(format!("{name}: {}", self.harm(step, inside)?)))
    }
}

/// The classes that `UntornBoot.boot` initializes, and those that are by then.
fn initialized_at_boot(files: &[ClassFile<'_>]) -> BTreeSet<String> {
    let start = files.iter().find(|class| class.name == BOOT).unwrap();
    let boot = start.methods.iter().find(|it| it.name == "boot").unwrap();
    let code = boot.code(&start.pool).unwrap().unwrap();
    let named = code.decode().unwrap().into_iter().filter_map(|(_, insn)| {
        let Insn::Ldc { constant, .. } = insn else {
            return None;
        };
        match start.pool.constant(constant).unwrap() {
            Constant::Class(name) => Some(name.to_string()),
            _ => None,
        }
    });
    let mut found: BTreeSet<String> = named.chain([BOOT.to_owned(), RUNTIME.to_owned()]).collect();
    // A class is initialized after those that it extends.
    let mut left: Vec<String> = found.iter().cloned().collect();
    while let Some(name) = left.pop() {
        let class = files.iter().find(|class| class.name == name);
        if let Some(above) = class.and_then(|class| class.super_name.as_deref())
            && found.insert(above.to_owned())
        {
            left.push(above.to_owned());
        }
    }
    found
}

fn read(
    class: &ClassFile<'_>,
    descriptor: &str,
    code: &[(u32, Insn)],
    initialized: &BTreeSet<String>,
) -> Method {
    let at = |offset: u32| code.iter().position(|(it, _)| *it == offset).unwrap();
    let steps = code
        .iter()
        .map(|(_, insn)| step(class, insn, initialized))
        .collect();
    let next = code.iter().enumerate().map(|(index, (_, insn))| {
        let mut next: Vec<usize> = insn.targets().map(at).collect();
        if insn.falls_through() {
            next.push(index + 1);
        }
        next
    });
    let when_true = code
        .iter()
        .enumerate()
        .map(|(index, (_, insn))| match insn {
            Insn::Jump { op: Op::Ifeq, .. } => Some(index + 1),
            Insn::Jump {
                op: Op::Ifne,
                target,
            } => Some(at(*target)),
            _ => None,
        });
    Method {
        descriptor: descriptor.to_owned(),
        steps,
        next: next.collect(),
        when_true: when_true.collect(),
    }
}

fn step(class: &ClassFile<'_>, insn: &Insn, initialized: &BTreeSet<String>) -> Step {
    let ours = |name: &str| name.starts_with("java/lang/Untorn");
    let statically = |reference: &MemberRef<'_>, what: Step| {
        if ours(&reference.class) && !initialized.contains(&*reference.class) {
            Step::Harm(format!("may initialize {}", reference.class))
        } else {
            what
        }
    };
    match insn {
        Insn::Invoke { op, method, .. } => {
            let called = class.pool.method_ref(*method).unwrap();
            let call = Step::Call(
                called.class.to_string(),
                called.name.to_string(),
                called.descriptor.to_string(),
            );
            if *op == Op::Invokestatic {
                statically(&called, call)
            } else {
                call
            }
        }
        Insn::Field {
            op: Op::Getstatic | Op::Putstatic,
            field,
        } => {
            let field = class.pool.field_ref(*field).unwrap();
            if ours(&field.class) {
                statically(&field, Step::Plain)
            } else {
                Step::Harm(format!("may initialize {}", field.class))
            }
        }
        Insn::Ldc { constant, .. } => match class.pool.constant(*constant).unwrap() {
            Constant::Integer(_) | Constant::Long(_) | Constant::Float(_) | Constant::Double(_) => {
                Step::Plain
            }
            _ => Step::Harm("loads a constant that is an object".to_owned()),
        },
        Insn::Type {
            op: Op::Checkcast | Op::Instanceof,
            class: named,
        } if ours(&class.pool.class_name(*named).unwrap()) => Step::Plain,
        Insn::InvokeDynamic { .. }
        | Insn::Type { .. }
        | Insn::NewArray(_)
        | Insn::MultiNewArray { .. } => Step::Harm(format!("allocates or loads: {insn:?}")),
        Insn::Plain(op @ (Op::Monitorenter | Op::Monitorexit | Op::Athrow)) => {
            Step::Harm(format!("{op:?}"))
        }
        _ => Step::Plain,
    }
}

impl Method {
    fn calls(&self, is_one: impl Fn(&str, &str) -> bool) -> Vec<usize> {
        let called =
            |step: &Step| matches!(step, Step::Call(class, name, _) if is_one(class, name));
        (0..self.steps.len())
            .filter(|&i| called(&self.steps[i]))
            .collect()
    }

    /// Where the record of an access is written: with the number that `access` made just before, or by `log`, which may leave it out.
    fn records(&self) -> Vec<usize> {
        let logs = self.calls(|class, name| (class, name) == (SHADOW, "log"));
        let writes = self.calls(|class, name| [LOG, THREAD].contains(&class) && name == "write");
        let made = self.calls(|class, name| (class, name) == (SHADOW, "access"));
        let is_access = |&at: &usize| at > 0 && made.contains(&(at - 1));
        writes.into_iter().filter(is_access).chain(logs).collect()
    }

    /// Everything that can follow, up to and without what stops it.
    fn after(&self, starts: &[usize], stops: &[usize]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut work = starts.to_vec();
        while let Some(at) = work.pop() {
            if !stops.contains(&at) && seen.insert(at) {
                work.extend(&self.next[at]);
            }
        }
        seen
    }

    /// What follows a call that was successful: if it says so, on the way that it leads to then.
    fn after_success(&self, call: usize) -> BTreeSet<usize> {
        let start = self.when_true.get(call + 1).copied().flatten();
        self.after(&[start.unwrap_or(call + 1)], &[])
    }
}

#[test]
fn nothing_between_the_record_and_the_return_is_a_safe_point() {
    let runtime = Runtime::read();
    let mut windows = 0;
    for (class, name) in RECORDING {
        let method = runtime.method(class, name);
        let recording = |class: &str, name: &str| {
            RECORDING.contains(&(class, name)) || (class, name) == (SHADOW, "deferUnlock")
        };
        let mut calls = method.records();
        calls.extend(method.calls(recording));
        assert!(!calls.is_empty(), "{name} records nothing");
        for call in calls {
            windows += 1;
            for at in method.after_success(call) {
                let harm = runtime.harm(&method.steps[at], &mut Vec::new());
                assert_eq!(harm, None, "{class}.{name}, instruction {at}");
            }
        }
    }
    // All of the record of a contended word is inside of it.
    let defers = runtime.call(SHADOW, "deferUnlock");
    assert_eq!(runtime.harm(&defers, &mut Vec::new()), None);
    assert!(windows > 12, "{windows}");
}

/// What could be a safe point between a test of the word, one of these methods of `Unsafe`, and the record.
fn harms_before_record(runtime: &Runtime, method: &Method, tests: &[&str]) -> Vec<String> {
    let tests = method
        .calls(|class, name| class == UNSAFE && tests.iter().any(|test| name.starts_with(test)));
    let records = method.records();
    let starts: Vec<usize> = tests.iter().map(|at| at + 1).collect();
    let between = method.after(&starts, &tests).into_iter().filter(|&at| {
        // Only what leads to a record without another test.
        let leads = method.after(&[at], &tests);
        records.iter().any(|record| leads.contains(record))
    });
    let between: Vec<usize> = between.collect();
    assert!(between.len() > 3, "{between:?}");
    let harm = |&at: &usize| runtime.harm(&method.steps[at], &mut Vec::new());
    between.iter().filter_map(harm).collect()
}

#[test]
fn nothing_between_the_test_and_the_record_is_a_safe_point() {
    let runtime = Runtime::read();
    for (class, name) in TESTING {
        let method = runtime.method(class, name);
        let harms = harms_before_record(&runtime, method, &["getLong", "compareAndSet"]);
        assert_eq!(harms, [""; 0], "{class}.{name}");
    }
}

#[test]
fn the_walk_sees_what_would_be_a_safe_point() {
    let runtime = Runtime::read();
    for (class, name, why) in [
        ("java/lang/UntornEpoch", "backOff", "Thread.currentThread"),
        (OWNER, "named", "allocates"),
        ("java/lang/UntornNatives", "nap", "native"),
        (LOG, "room", "moreRoom"),
        (UNSAFE, "park", "Unsafe.park"),
        ("java/lang/String", "concat", "String"),
    ] {
        let call = runtime.call(class, name);
        let harm = runtime.harm(&call, &mut Vec::new());
        assert!(
            harm.as_ref().is_some_and(|it| it.contains(why)),
            "{class}.{name}: {harm:?}"
        );
    }
    // An object gets its id between the first look at its word and the compare-and-set.
    let harms = harms_before_record(&runtime, runtime.method(OWNER, "claim"), &["getLong"]);
    assert!(harms.iter().any(|it| it.contains("allocates")), "{harms:?}");
}
