//! Annotations in class files, known by their simple names: all packages that have a `@GuardedBy` mean the same by it.

use untorn_classfile::ClassFile;
use untorn_classfile::read::{Annotation, ElementValue};
use untorn_program::{ClassId, Program};

use super::Annotations;
use super::given::{AnnotationError, Given, Origin, Subject};
use super::words::{Assumed, GuardWord, Piece, Says};

/// Where our own annotations live.
const OWN: &str = "Luntorn/annotations/";

/// Reads the annotations of all checked classes.
pub fn read(program: &Program, all: &mut Annotations) -> Result<(), AnnotationError> {
    for &class in program.inputs() {
        read_class(program, class, all);
    }
    Ok(())
}

fn read_class(program: &Program, class: ClassId, all: &mut Annotations) {
    let classes = program.classes();
    // A class that cannot be read again was an error when it was loaded.
    let Ok(parsed) = ClassFile::parse(&classes.class(class).bytes) else {
        return;
    };
    let name = classes.class_name(class).replace('/', ".");
    if let Ok(annotations) = parsed.attributes.annotations(&parsed.pool) {
        for annotation in &annotations {
            add(&name, annotation, Subject::Class(class), all);
        }
    }
    for field in &parsed.fields {
        let Some(id) = classes.declared_field(class, &field.name) else {
            continue;
        };
        if let Ok(annotations) = field.attributes.annotations(&parsed.pool) {
            for annotation in &annotations {
                let at = format!("{name}.{}", field.name);
                add(&at, annotation, Subject::Field(id), all);
            }
        }
    }
    for method in &parsed.methods {
        let Some(id) = classes.declared_method(class, &method.name, &method.descriptor) else {
            continue;
        };
        if let Ok(annotations) = method.attributes.annotations(&parsed.pool) {
            for annotation in &annotations {
                let at = format!("{name}.{}", method.name);
                add(&at, annotation, Subject::Method(id), all);
            }
        }
    }
}

fn add(at: &str, annotation: &Annotation<'_>, of: Subject, all: &mut Annotations) {
    let name = annotation.simple_name();
    let own = annotation.descriptor.starts_with(OWN);
    let value = texts(annotation);
    let atomicity = |text: &str| {
        Says::Atomicity(Piece {
            text: text.to_owned(),
            offset: 0,
        })
    };
    let is_class = matches!(of, Subject::Class(_));
    let is_method = matches!(of, Subject::Method(_));
    let says = match name {
        "GuardedBy" if !is_class => {
            let [first, others @ ..] = value.as_slice() else {
                return;
            };
            if !others.is_empty() {
                all.notes.push(format!(
                    "{at} @{name}: only the first of its locks, {first}, is checked"
                ));
            }
            if is_method {
                Says::Holds(lock(first))
            } else if first == "itself" {
                Says::GuardedByItself
            } else {
                Says::Guard(GuardWord::GuardedBy, Some(lock(first)))
            }
        }
        "WriteGuardedBy" if !is_class && !is_method => match value.first() {
            Some(first) => Says::Guard(GuardWord::WriteGuardedBy, Some(lock(first))),
            None => return,
        },
        "Atomic" if is_method || is_class => {
            atomicity(value.first().map_or("atomic", String::as_str))
        }
        "ThreadSafe" if is_class => atomicity("atomic"),
        "NotAtomic" if is_method => atomicity("cmpd"),
        "NotThreadSafe" | "NotAtomic" if is_class => atomicity("cmpd"),
        "AssumeAtomic" if is_method => Says::Assume(Assumed::Atomic),
        "AssumeMover" if is_method => Says::Assume(Assumed::Mover),
        "AssumeGuarded" if !is_method && !is_class => Says::Assume(Assumed::Guarded),
        _ => return,
    };
    all.given.push(Given {
        origin: Origin::Annotation {
            at: format!("{at} @{name}"),
            own,
        },
        of,
        says,
    });
}

fn lock(text: &str) -> Piece {
    Piece {
        text: text.to_owned(),
        offset: 0,
    }
}

/// The texts of `value`.
fn texts(annotation: &Annotation<'_>) -> Vec<String> {
    match annotation.element("value") {
        Some(ElementValue::String(text)) => vec![text.trim().to_owned()],
        Some(ElementValue::Array(values)) => values
            .iter()
            .filter_map(|value| match value {
                ElementValue::String(text) => Some(text.trim().to_owned()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
