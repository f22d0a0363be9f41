//! Reads atomicities and lock expressions as programmers write them in annotations.
//!
//! ```text
//! atomicity ::= test '?' atomicity ':' atomicity | basic | '(' atomicity ')'
//! test      ::= lock | equality | '(' lock ')' | '(' equality ')'
//! equality  ::= lock '=' ( 'none' | 'always_held' )
//! lock      ::= name ( '.' name | '.class' | '.readLock()' | '.writeLock()' | '.monitor()' )*
//! ```

use crate::algebra::{Algebra, Atomicity, Question, Test};
use crate::basic::Basic;
use crate::locks::{FieldName, Lock, Locks, Root};

/// What the names in an annotation mean at its place.
pub trait NameScope {
    /// A parameter or ghost of that name.
    fn variable(&self, name: &str) -> Option<Root>;
    /// The final field of that name of the object that `base` denotes.
    /// The base is a class object for a static field.
    fn field(&self, locks: &mut Locks, base: Lock, name: &str) -> Option<FieldName>;
    /// The class of that name, qualified or not.
    fn class(&self, locks: &mut Locks, name: &str) -> Option<Root>;
    /// The final field that a name alone means; of `this`, unless the scope knows others.
    fn bare(&self, locks: &mut Locks, name: &str) -> Option<Lock> {
        let field = self.field(locks, Locks::THIS, name)?;
        locks.field(Locks::THIS, field)
    }
    /// `Outer.this`: the object of that class around `this`.
    fn enclosing(&self, locks: &mut Locks, class: Lock) -> Option<Lock> {
        let _ = (locks, class);
        None
    }
}

/// A malformed annotation: what is wrong and at which byte of its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at offset {offset}: {problem}")]
pub struct NotationError {
    /// Byte offset into the annotation's text.
    pub offset: usize,
    /// What was expected, or what a name fails to denote.
    pub problem: String,
}

/// How deep conditionals may nest in a written annotation.
const MAX_DEPTH: usize = 64;

/// Reads a whole text as an atomicity.
pub fn parse_atomicity(
    algebra: &mut Algebra,
    scope: &dyn NameScope,
    text: &str,
) -> Result<Atomicity, NotationError> {
    let mut parser = Parser {
        algebra,
        scope,
        text,
        at: 0,
    };
    let result = parser.atomicity(0)?;
    parser.end()?;
    Ok(result)
}

/// Reads a whole text as a lock expression, as after `guarded_by` or `holds`.
pub fn parse_lock(
    algebra: &mut Algebra,
    scope: &dyn NameScope,
    text: &str,
) -> Result<Lock, NotationError> {
    let mut parser = Parser {
        algebra,
        scope,
        text,
        at: 0,
    };
    let result = parser.lock()?;
    parser.end()?;
    Ok(result)
}

struct Parser<'a> {
    algebra: &'a mut Algebra,
    scope: &'a dyn NameScope,
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn error<T>(&self, problem: impl Into<String>) -> Result<T, NotationError> {
        Err(NotationError {
            offset: self.at,
            problem: problem.into(),
        })
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), NotationError> {
        if self.accept(token) {
            Ok(())
        } else {
            self.error(format!("expected `{token}`"))
        }
    }

    fn end(&mut self) -> Result<(), NotationError> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            self.error("expected the end")
        }
    }

    fn peek_name(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|&(i, c)| {
                !(c.is_alphanumeric() && (i > 0 || !c.is_numeric()) || c == '_' || c == '$')
            })
            .map_or(rest.len(), |(i, _)| i);
        &rest[..end]
    }

    fn name(&mut self) -> Result<&'a str, NotationError> {
        let name = self.peek_name();
        if name.is_empty() {
            return self.error("expected a name");
        }
        self.at += name.len();
        Ok(name)
    }

    fn atomicity(&mut self, depth: usize) -> Result<Atomicity, NotationError> {
        if depth > MAX_DEPTH {
            return self.error(format!("nested deeper than {MAX_DEPTH}"));
        }
        let test = if self.accept("(") {
            // Either a test in parentheses or an atomicity in parentheses.
            if let Some(basic) = Basic::from_name(self.peek_name()) {
                self.name()?;
                self.expect(")")?;
                return Ok(basic.into());
            }
            if self.rest().starts_with('(') {
                let inner = self.atomicity(depth + 1)?;
                self.expect(")")?;
                return Ok(inner);
            }
            let test = self.question()?;
            if self.accept("?") {
                let inner = self.outcomes(test, depth)?;
                self.expect(")")?;
                return Ok(inner);
            }
            self.expect(")")?;
            test
        } else if let Some(basic) = Basic::from_name(self.peek_name()) {
            self.name()?;
            return Ok(basic.into());
        } else {
            self.question()?
        };
        self.expect("?")?;
        self.outcomes(test, depth)
    }

    fn question(&mut self) -> Result<Test, NotationError> {
        let start = self.at;
        let lock = self.lock()?;
        let question = if self.accept("=") {
            match self.name()? {
                "none" => Question::IsNone,
                "always_held" => Question::IsAlwaysHeld,
                _ => return self.error("expected `none` or `always_held` before this"),
            }
        } else {
            Question::Held
        };
        if question != Question::Held && self.algebra.locks.as_ghost(lock).is_none() {
            self.at = start;
            return self.error("only a ghost can be compared");
        }
        Ok(Test { lock, question })
    }

    fn outcomes(&mut self, test: Test, depth: usize) -> Result<Atomicity, NotationError> {
        let high = self.atomicity(depth + 1)?;
        self.expect(":")?;
        let low = self.atomicity(depth + 1)?;
        Ok(self.algebra.test(test, high, low))
    }

    fn lock(&mut self) -> Result<Lock, NotationError> {
        self.rest();
        let start = self.at;
        let first = self.name()?;
        let mut lock = match first {
            "this" => Locks::THIS,
            "none" => Locks::NONE,
            "always_held" => Locks::ALWAYS_HELD,
            "tll" => Locks::TLL,
            _ => {
                if let Some(root) = self.scope.variable(first) {
                    self.algebra.locks.root(root)
                } else if let Some(lock) = self.scope.bare(&mut self.algebra.locks, first) {
                    lock
                } else {
                    self.class(start)?
                }
            }
        };
        while self.accept(".") {
            let name = self.name()?;
            let called = matches!(name, "readLock" | "writeLock" | "monitor") && self.accept("(");
            if called {
                self.expect(")")?;
                lock = match name {
                    "readLock" => self.algebra.locks.shared(lock),
                    "monitor" => self.algebra.locks.monitor(lock),
                    _ => lock,
                };
            } else if name == "this"
                && let Some(outer) = self.scope.enclosing(&mut self.algebra.locks, lock)
            {
                lock = outer;
            } else if let Some(field) = self.scope.field(&mut self.algebra.locks, lock, name) {
                lock = self.step(lock, field)?;
            } else {
                self.at -= name.len();
                return self.error(format!("`{name}` is no final field here"));
            }
        }
        Ok(lock)
    }

    fn step(&mut self, base: Lock, field: FieldName) -> Result<Lock, NotationError> {
        match self.algebra.locks.field(base, field) {
            Some(lock) => Ok(lock),
            None => self.error("this lock expression is too long"),
        }
    }

    /// A class object `a.b.C.class`, or the prefix `a.b.C` of a static field.
    fn class(&mut self, start: usize) -> Result<Lock, NotationError> {
        loop {
            let name = &self.text[start..self.at];
            if let Some(root) = self.scope.class(&mut self.algebra.locks, name) {
                if self.rest().starts_with(".class") {
                    self.at += ".class".len();
                }
                return Ok(self.algebra.locks.root(root));
            }
            if !self.accept(".") {
                self.at = start;
                return self.error(format!(
                    "`{name}` is no parameter, ghost, final field or class"
                ));
            }
            self.name()?;
        }
    }
}
