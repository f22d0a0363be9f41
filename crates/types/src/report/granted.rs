//! What every proof takes for granted, in words: it stands beside the proofs wherever they are kept.

use untorn_program::{Assumption, Program};

use crate::front::Options;

/// What the proofs about a program rest on besides its code.
pub fn granted(program: &Program, options: Options) -> Vec<String> {
    let mut all = Vec::new();
    if program.is_application() {
        all.push(
            "closed world: nothing but the analyzed classes, the class path and the platform is loaded"
                .to_owned(),
        );
    } else {
        all.push(
            "clients call methods; they access no fields but public ones of public classes"
                .to_owned(),
        );
        all.push(
            "clients extend no class but abstract ones, and override nothing that has a body"
                .to_owned(),
        );
        all.push("what clients pass as a lock of java.util.concurrent excludes others".to_owned());
    }
    all.push("reflection by names that are no constants, native code and deserialization access no fields".to_owned());
    for (kind, what) in [
        (Assumption::Reflection, "reflective calls are not followed"),
        (Assumption::MissingClass, "classes are missing"),
        (
            Assumption::UnreadableBody,
            "methods have code that cannot be read",
        ),
    ] {
        let count = program.assumptions().subjects(kind);
        if count > 0 {
            all.push(format!("harmless: {count} {what}"));
        }
    }
    all.push("class initialization is no step of its own".to_owned());
    if options.pure_values {
        all.push(
            "equals, hashCode, compareTo and toString of objects nobody has seen are harmless"
                .to_owned(),
        );
    }
    all.push(
        "sequential consistency, for regions that access plain fields in a race (proved_if_sequential)"
            .to_owned(),
    );
    all
}
