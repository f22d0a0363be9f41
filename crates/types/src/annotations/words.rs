//! The words of annotations, before their names mean anything.
//!
//! ```text
//! annotation ::= atomicity
//!              | 'guarded_by' lock | 'write_guarded_by' lock | 'no_guard'
//!              | 'holds' lock | 'no_warn'
//!              | 'ghost' name (',' name)* | 'protecting' name (',' 'ghost'? name)*
//!              | 'assume_atomic' | 'assume_mover' | 'assume_guarded'
//!              | '<' lock (',' lock)* '>'
//! ```

use crate::basic::Basic;
use crate::notation::NotationError;

/// How a field is declared to be protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardWord {
    /// At every access.
    GuardedBy,
    /// At every write.
    WriteGuardedBy,
    /// By nothing.
    NoGuard,
}

/// What is believed without a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Assumed {
    /// The method is one step.
    Atomic,
    /// The method is no step.
    Mover,
    /// The field is always protected.
    Guarded,
}

/// A piece of an annotation's text, and the byte where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Where it begins in the annotation.
    pub offset: usize,
}

/// What an annotation says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// A guard; the lock is missing for `no_guard`.
    Guard(GuardWord, Option<Piece>),
    /// The guard of what a field refers to is its own lock.
    GuardedByItself,
    /// An upper bound.
    Atomicity(Piece),
    /// The lock is held.
    Holds(Piece),
    /// Nothing is looked at.
    NoWarn,
    /// Ghost parameters; the first may name the protecting lock.
    Ghosts {
        /// Their names.
        names: Vec<String>,
        /// The first one protects.
        protecting: bool,
    },
    /// Ghost arguments.
    Arguments(Vec<Piece>),
    /// Believed.
    Assume(Assumed),
}

impl Says {
    /// The kind that statistics count it as.
    pub fn kind(&self) -> &'static str {
        match self {
            Says::Guard(..) | Says::GuardedByItself => "guard",
            Says::Atomicity(_) => "atomicity",
            Says::Ghosts { .. } | Says::Arguments(_) => "ghost",
            Says::Holds(_) | Says::NoWarn | Says::Assume(_) => "escape",
        }
    }
}

const WORDS: &str = "guarded_by, write_guarded_by, no_guard, holds, no_warn, ghost, protecting, assume_atomic, assume_mover, assume_guarded, or an atomicity such as `this ? mover : atomic`";

/// Reads the words of an annotation.
pub fn parse(text: &str) -> Result<Says, NotationError> {
    let (word, rest) = match text.find(char::is_whitespace) {
        Some(at) => (&text[..at], text[at..].trim()),
        None => (text, ""),
    };
    let problem = |offset: usize, problem: &str| NotationError {
        offset,
        problem: problem.to_owned(),
    };
    let offset = text.len() - rest.len();
    let alone = |says: Says| {
        if rest.is_empty() {
            Ok(says)
        } else {
            Err(problem(offset, "expected the end"))
        }
    };
    let lock = || {
        if rest.is_empty() {
            return Err(problem(offset, "expected a lock"));
        }
        Ok(Piece {
            text: rest.to_owned(),
            offset,
        })
    };
    match word {
        "" => Err(problem(
            0,
            &format!("an empty annotation; expected {WORDS}"),
        )),
        "guarded_by" => Ok(Says::Guard(GuardWord::GuardedBy, Some(lock()?))),
        "write_guarded_by" => Ok(Says::Guard(GuardWord::WriteGuardedBy, Some(lock()?))),
        "no_guard" => alone(Says::Guard(GuardWord::NoGuard, None)),
        "holds" => Ok(Says::Holds(lock()?)),
        "no_warn" => alone(Says::NoWarn),
        "assume_atomic" => alone(Says::Assume(Assumed::Atomic)),
        "assume_mover" => alone(Says::Assume(Assumed::Mover)),
        "assume_guarded" => alone(Says::Assume(Assumed::Guarded)),
        "ghost" | "protecting" => ghosts(rest, offset, word == "protecting"),
        _ if text.starts_with('<') => arguments(text),
        _ if text.contains('?') || Basic::from_name(text.trim_matches(['(', ')'])).is_some() => {
            Ok(Says::Atomicity(Piece {
                text: text.to_owned(),
                offset: 0,
            }))
        }
        _ => Err(problem(
            0,
            &format!("no annotation begins with `{word}`; expected {WORDS}"),
        )),
    }
}

fn ghosts(rest: &str, offset: usize, protecting: bool) -> Result<Says, NotationError> {
    let mut names: Vec<String> = Vec::new();
    for piece in pieces(rest, offset) {
        let name = piece.text.strip_prefix("ghost ").unwrap_or(&piece.text);
        let is_name = name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '$')
            && !name.starts_with(|c: char| c.is_numeric());
        let problem = if name.is_empty() || !is_name {
            "expected a name"
        } else if matches!(name, "this" | "none" | "always_held" | "tll")
            || Basic::from_name(name).is_some()
        {
            "this name means something else"
        } else if names.iter().any(|known| known == name) {
            "this ghost is there already"
        } else {
            names.push(name.to_owned());
            continue;
        };
        return Err(NotationError {
            offset: piece.offset,
            problem: problem.to_owned(),
        });
    }
    Ok(Says::Ghosts { names, protecting })
}

fn arguments(text: &str) -> Result<Says, NotationError> {
    let Some(inner) = text.strip_prefix('<').and_then(|t| t.strip_suffix('>')) else {
        return Err(NotationError {
            offset: text.len(),
            problem: "expected `>`".to_owned(),
        });
    };
    let pieces = pieces(inner, 1);
    match pieces.iter().find(|piece| piece.text.is_empty()) {
        Some(empty) => Err(NotationError {
            offset: empty.offset,
            problem: "expected a lock".to_owned(),
        }),
        None => Ok(Says::Arguments(pieces)),
    }
}

/// The parts between commas.
fn pieces(text: &str, mut offset: usize) -> Vec<Piece> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let before = part.len() - part.trim_start().len();
        all.push(Piece {
            text: part.trim().to_owned(),
            offset: offset + before,
        });
        offset += part.len() + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, offset: usize) -> Piece {
        Piece {
            text: text.to_owned(),
            offset,
        }
    }

    #[test]
    fn every_form_is_read() {
        let guard = Says::Guard(GuardWord::GuardedBy, Some(piece("this.lock", 11)));
        assert_eq!(parse("guarded_by this.lock"), Ok(guard));
        assert_eq!(parse("no_guard"), Ok(Says::Guard(GuardWord::NoGuard, None)));
        assert_eq!(parse("holds x"), Ok(Says::Holds(piece("x", 6))));
        assert_eq!(parse("atomic"), Ok(Says::Atomicity(piece("atomic", 0))));
        let conditional = "this ? mover : atomic";
        assert_eq!(
            parse(conditional),
            Ok(Says::Atomicity(piece(conditional, 0)))
        );
        let ghosts = |names: &[&str], protecting| Says::Ghosts {
            names: names.iter().map(|&n| n.to_owned()).collect(),
            protecting,
        };
        assert_eq!(parse("ghost x, y"), Ok(ghosts(&["x", "y"], false)));
        assert_eq!(
            parse("protecting x, ghost y"),
            Ok(ghosts(&["x", "y"], true))
        );
        assert_eq!(
            parse("<this, x>"),
            Ok(Says::Arguments(vec![piece("this", 1), piece("x", 7)]))
        );
        assert_eq!(parse("assume_mover"), Ok(Says::Assume(Assumed::Mover)));
    }

    #[test]
    fn malformed_ones_say_where() {
        for (text, offset) in [
            ("", 0),
            ("guarded_by", 10),
            ("no_guard this", 9),
            ("guardedby this", 0),
            ("ghost x, x", 9),
            ("ghost 1x", 6),
            ("ghost", 5),
            ("ghost this", 6),
            ("<this", 5),
            ("<this, >", 7),
            ("no_warn please", 8),
        ] {
            assert_eq!(parse(text).map_err(|e| e.offset), Err(offset), "{text}");
        }
    }
}
