//! What comments and annotations in the sources say of methods, fields and lines, for analyses of runs: the same words as for types (docs/annotations.md).
//!
//! It becomes a part of the specification, so that the agent and the analyses hear of it in the way they hear of everything else.

use std::collections::BTreeSet;
use std::path::PathBuf;

use untorn_sources::{Declaration, DeclarationKind, SourceFile};
use untorn_spec::{Assume, Assumption, Pattern, Specification};

use crate::failure::Failure;
use crate::library::{NO_WARN, declarations};

/// Adds what the sources declare to a specification, and returns what of it a run cannot use.
pub fn add_to(spec: &mut Specification, sources: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let mut unused = Vec::new();
    if sources.is_empty() {
        return Ok(unused);
    }
    for source in declarations(sources)? {
        let name = source.path.rsplit(['/', '\\']).next().unwrap_or_default();
        add_file(spec, name, &source.file, &mut unused);
    }
    Ok(unused)
}

fn add_file(spec: &mut Specification, name: &str, file: &SourceFile, unused: &mut Vec<String>) {
    let mut silent: BTreeSet<u32> = (file.loose_marks().iter())
        .filter(|mark| mark.text == NO_WARN)
        .map(|mark| mark.line)
        .collect();
    for declaration in file.declarations() {
        let says = |mark: &str, annotation: &str| says(declaration, mark, annotation);
        match declaration.kind {
            DeclarationKind::Method => {
                for (what, mark, annotation) in [
                    (Assume::Atomic, "assume_atomic", "AssumeAtomic"),
                    (Assume::Mover, "assume_mover", "AssumeMover"),
                ] {
                    if says(mark, annotation)
                        && let Some(of) = only_method(file, declaration, (mark, annotation), unused)
                    {
                        spec.assume.push(Assumption {
                            what,
                            of,
                            line: None,
                        });
                    }
                }
                // An annotation is in the class file too, where the rules find it.
                if says("atomic", "Atomic")
                    && let Some(of) = only_method(file, declaration, ("atomic", "Atomic"), unused)
                {
                    spec.include.push(of);
                }
            }
            DeclarationKind::Field => {
                if says("assume_guarded", "AssumeGuarded")
                    && let Some(of) =
                        pattern(&format!("{}.{}", declaration.class, declaration.name))
                {
                    spec.assume.push(Assumption {
                        what: Assume::Guarded,
                        of,
                        line: None,
                    });
                }
            }
            DeclarationKind::Class => {
                let all = format!("{}.*", declaration.class);
                if says("atomic", "Atomic")
                    && let Some(of) = pattern(&all)
                {
                    spec.include.push(of);
                }
            }
            DeclarationKind::Block => {
                if says(NO_WARN, NO_WARN) {
                    silent.extend(declaration.lines.0..=declaration.lines.1);
                }
                let block = (declaration.block)
                    .map(|n| format!("{}.{}@{n}", declaration.class, declaration.name));
                if says("atomic", "Atomic")
                    && let Some(of) = block.as_deref().and_then(pattern)
                {
                    spec.include.push(of);
                }
            }
        }
    }
    let Some(of) = pattern(name) else { return };
    for line in silent {
        spec.assume.push(Assumption {
            what: Assume::NoWarn,
            of: of.clone(),
            line: Some(line),
        });
    }
}

fn says(declaration: &Declaration, mark: &str, annotation: &str) -> bool {
    declaration.marks.iter().any(|one| one.text == mark)
        || declaration
            .annotations
            .iter()
            .any(|one| one.name == annotation && !one.arguments.contains('?'))
}

/// The pattern of a method; a run knows no parameters as they are written, so all overloads must say the same.
fn only_method(
    file: &SourceFile,
    declaration: &Declaration,
    (mark, annotation): (&str, &str),
    unused: &mut Vec<String>,
) -> Option<Pattern> {
    let same = |other: &&Declaration| {
        other.kind == DeclarationKind::Method
            && other.class == declaration.class
            && other.name == declaration.name
    };
    let name = format!("{}.{}", declaration.class, declaration.name);
    if !(file.declarations().iter().filter(same)).all(|other| says(other, mark, annotation)) {
        unused.push(format!(
            "{name} is overloaded, so that {mark} at one of its methods is not used: name it with its descriptor in the specification"
        ));
        return None;
    }
    pattern(&name)
}

fn pattern(name: &str) -> Option<Pattern> {
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str) -> Specification {
        let mut spec = Specification::default();
        let file = SourceFile::parse(text.to_owned());
        add_file(&mut spec, "Bank.java", &file, &mut Vec::new());
        spec
    }

    fn assumed(spec: &Specification, what: Assume) -> Vec<String> {
        (spec.assume.iter().filter(|one| one.what == what))
            .map(|one| match one.line {
                Some(line) => format!("{}:{line}", one.of),
                None => one.of.to_string(),
            })
            .collect()
    }

    #[test]
    fn comments_and_annotations_become_a_part_of_the_specification() {
        let spec = declared(
            "package shop;
class Bank {
    int total /*# assume_guarded */;
    /*# assume_atomic */
    void log() { }
    @AssumeMover
    void trace() { }
    /*# atomic */
    void book() {
        total++; /*# no_warn */
    }
}
",
        );
        assert_eq!(assumed(&spec, Assume::Atomic), ["shop.Bank.log"]);
        assert_eq!(assumed(&spec, Assume::Mover), ["shop.Bank.trace"]);
        assert_eq!(assumed(&spec, Assume::Guarded), ["shop.Bank.total"]);
        assert_eq!(assumed(&spec, Assume::NoWarn), ["Bank.java:10"]);
        let included: Vec<String> = spec.include.iter().map(ToString::to_string).collect();
        assert_eq!(included, ["shop.Bank.book"]);
    }

    #[test]
    fn what_one_overload_says_is_not_taken_for_all() {
        let spec = declared(
            "class Bank {
    /*# assume_atomic */
    void log() { }
    void log(int level) { }
}
",
        );
        assert!(spec.assume.is_empty());
    }
}
