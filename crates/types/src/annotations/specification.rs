//! Declarations in the specification.

use untorn_program::Program;
use untorn_spec::{Assume, Specification};

use super::Annotations;
use super::given::{AnnotationError, Given, Origin, Subject};
use super::words::{Assumed, GuardWord, Piece, Says};

/// Reads guards, atomicities and assumptions.
pub fn read(
    program: &Program,
    spec: &Specification,
    all: &mut Annotations,
) -> Result<(), AnnotationError> {
    for (number, guard) in spec.guard.iter().enumerate() {
        let entry = format!("specification, guard {} ({})", number + 1, guard.field);
        let says = match guard.by.trim() {
            "none" => Says::Guard(GuardWord::NoGuard, None),
            by => {
                let word = if guard.writes_only {
                    GuardWord::WriteGuardedBy
                } else {
                    GuardWord::GuardedBy
                };
                Says::Guard(word, Some(whole(by)))
            }
        };
        for of in fields(program, &|name| guard.field.matches_name(name)) {
            give(all, &entry, of, says.clone());
        }
    }
    for (number, atomicity) in spec.atomicity.iter().enumerate() {
        let entry = format!(
            "specification, atomicity {} ({})",
            number + 1,
            atomicity.method
        );
        for of in methods(program, &atomicity.method) {
            give(all, &entry, of, Says::Atomicity(whole(&atomicity.is)));
        }
    }
    for (number, assumption) in spec.assume.iter().enumerate() {
        let entry = format!("specification, assume {} ({})", number + 1, assumption.of);
        let subjects = match assumption.what {
            Assume::Atomic | Assume::Mover => methods(program, &assumption.of),
            Assume::Guarded => fields(program, &|name| assumption.of.matches_name(name)),
            Assume::NoWarn => match assumption.line {
                Some(line) => lines(program, &assumption.of.to_string(), line),
                None => continue,
            },
        };
        let says = match assumption.what {
            Assume::Atomic => Says::Assume(Assumed::Atomic),
            Assume::Mover => Says::Assume(Assumed::Mover),
            Assume::Guarded => Says::Assume(Assumed::Guarded),
            Assume::NoWarn => Says::NoWarn,
        };
        for of in subjects {
            give(all, &entry, of, says.clone());
        }
    }
    for pattern in &spec.exclude {
        for of in methods(program, pattern) {
            if let Subject::Method(method) = of {
                all.excluded.push(method);
            }
        }
    }
    // What further specifications say is said too.
    for other in &spec.and {
        read(program, other, all)?;
    }
    Ok(())
}

fn whole(text: &str) -> Piece {
    Piece {
        text: text.to_owned(),
        offset: 0,
    }
}

fn give(all: &mut Annotations, entry: &str, of: Subject, says: Says) {
    all.given.push(Given {
        origin: Origin::Specification(entry.to_owned()),
        of,
        says,
    });
}

fn fields(program: &Program, fits: &dyn Fn(&str) -> bool) -> Vec<Subject> {
    let classes = program.classes();
    (program.inputs().iter())
        .flat_map(|&class| &classes.class(class).fields)
        .filter(|&&field| fits(&classes.describe_field(field).replace('/', ".")))
        .map(|&field| Subject::Field(field))
        .collect()
}

fn methods(program: &Program, pattern: &untorn_spec::Pattern) -> Vec<Subject> {
    let classes = program.classes();
    let mut found = Vec::new();
    for &class in program.inputs() {
        let name = classes.class_name(class).replace('/', ".");
        for &method in &classes.class(class).methods {
            let (own, descriptor) = (
                classes.method_name(method),
                classes.method_descriptor(method),
            );
            if pattern.matches_region(&name, own, descriptor, None) {
                found.push(Subject::Method(method));
            }
        }
    }
    found
}

/// A line of a file, by one class of each file of that name.
fn lines(program: &Program, file: &str, line: u32) -> Vec<Subject> {
    let classes = program.classes();
    let named = |class: &&untorn_program::ClassId| {
        let source = classes.class(**class).source_file;
        source.is_some_and(|name| classes.names.name(name) == file)
            && !classes.class_name(**class).contains('$')
    };
    (program.inputs().iter().filter(named))
        .map(|&class| Subject::FileLine {
            class: classes.class_name(class).to_owned(),
            line,
        })
        .collect()
}
