//! For tests: makes one step of the start fail, or numbers run out early, so that it can be seen what becomes of the JVM.
//!
//! A variable names the step: `capabilities`, `events`, `thread`, `boot`, `define CLASS`, `skip CLASS` (it is missing, and nobody noticed), `edit CLASS`, with slashes.
//! Or it names what fails again and again once all is started: `allocations` of the runtime, or its look for enough `stack`.
//! Another one names a kind of number, as `UntornLimits` does, and how many there are: `objects 1000`; `failures 50` makes every fiftieth allocation fail.

use std::sync::OnceLock;

use untorn_classfile::{ClassEditor, ClassFile, EditError, Insn, Op};

const VARIABLE: &str = "UNTORN_TEST_FAIL";

/// Whether this step is to fail.
pub fn fails(step: &str, class: &str) -> bool {
    static WANTED: OnceLock<Option<String>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| std::env::var(VARIABLE).ok());
    wanted.as_deref().is_some_and(|wanted| {
        let (name, of) = wanted.split_once(' ').unwrap_or((wanted, ""));
        name == step && of == class
    })
}

const LIMIT: &str = "UNTORN_TEST_LIMIT";

/// How many numbers of a kind there are for this test.
pub fn limit(kind: &str) -> Option<i64> {
    let wanted = std::env::var(LIMIT).ok()?;
    let (of, most) = wanted.split_once(' ')?;
    (of == kind).then(|| most.parse().ok()).flatten()
}

/// A class of the runtime in which things fail again and again, if that is wanted.
pub fn failing(bytes: &[u8]) -> Option<Result<Vec<u8>, EditError>> {
    let place = if fails("allocations", "") {
        Place::Allocations
    } else if fails("stack", "") {
        Place::Probe
    } else {
        return None;
    };
    Some(insert(bytes, place))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Allocations,
    Probe,
}

const FAULTS: &str = "java/lang/UntornFaults";

fn insert(bytes: &[u8], place: Place) -> Result<Vec<u8>, EditError> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    if *editor.class().name == *FAULTS {
        return editor.finish();
    }
    let hook = match place {
        Place::Allocations => "allocates",
        Place::Probe => "probes",
    };
    for index in 0..editor.class().methods.len() {
        let method = &editor.class().methods[index];
        let is_probe = *method.name == *"probe" && *method.descriptor == *"()V";
        let Some(mut body) = editor.method(index)? else {
            continue;
        };
        let allocates = |insn: &Insn<_>| {
            matches!(
                insn.op(),
                Op::New | Op::Newarray | Op::Anewarray | Op::Multianewarray
            )
        };
        let places: Vec<usize> = match place {
            Place::Allocations => (body.insns().iter().enumerate())
                .filter(|(_, insn)| allocates(insn))
                .map(|(at, _)| at)
                .collect(),
            Place::Probe if is_probe => vec![0],
            Place::Probe => Vec::new(),
        };
        if places.is_empty() {
            continue;
        }
        let call = editor.pool.method_ref(FAULTS, hook, "()V")?;
        for at in places {
            body.before(at).invoke(Op::Invokestatic, call);
        }
        editor.put(body)?;
    }
    editor.finish()
}
