//! What was inferred, as declarations that can be written down.
//!
//! A type is written only if reading it back gives the same type: a path through a field that the declared types do not show stays unwritten, and is inferred again.

use untorn_program::{FieldId, MethodId};

use super::Item;
use super::scope::Scope;
use crate::algebra::Atomicity;
use crate::input::Guard;
use crate::notation::{parse_atomicity, parse_lock, print_atomicity};
use crate::report::Typed;

/// What a declaration would say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// `guarded_by`.
    GuardedBy(String),
    /// `write_guarded_by`.
    WriteGuardedBy(String),
    /// `no_guard`.
    NoGuard,
    /// An atomicity.
    Atomicity {
        /// In the notation of annotations.
        text: String,
        /// Compound in no context that keeps the discipline.
        atomic: bool,
    },
    /// No declaration, but what a method can come between, for people to read.
    Torn(String),
}

impl Written {
    /// The text of a comment.
    pub fn comment(&self) -> String {
        match self {
            Written::GuardedBy(lock) => format!("guarded_by {lock}"),
            Written::WriteGuardedBy(lock) => format!("write_guarded_by {lock}"),
            Written::NoGuard => "no_guard".to_owned(),
            Written::Atomicity { text, .. } => text.clone(),
            Written::Torn(why) => format!("not atomic: {why}"),
        }
    }
}

/// How types name parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameters {
    /// By their names, for whoever reads them beside the source.
    Named,
    /// As `arg0`, `arg1`, …, which needs no source.
    Numbered,
}

/// What was inferred of a method or field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// What it is of.
    pub item: Item,
    /// What would be written.
    pub written: Written,
}

impl Typed<'_> {
    /// Everything that was inferred of the checked classes and is not declared yet, and how much cannot be written.
    pub fn inferred(&mut self, parameters: Parameters) -> (Vec<Inferred>, usize) {
        let mut found = Vec::new();
        let mut unwritable = 0;
        for index in 0..self.translation.fields.len() {
            let key = self.translation.fields[index];
            let id = crate::input::FieldId(index as u32);
            let classes = self.program.classes();
            let info = classes.field(key.field);
            let unguarded = self.analysis.discipline.guards.get(index) == Some(&Guard::NoGuard);
            let silent = key.content
                || (info.flags.is_volatile() || info.flags.is_final()) && unguarded
                || info.flags.is_synthetic()
                || !self.program.is_input(info.class)
                || self.entered.guards.contains_key(&id);
            if silent {
                continue;
            }
            match self.written_guard(key.field, index) {
                Ok(Some(written)) => found.push(Inferred {
                    item: Item::Field(key.field),
                    written,
                }),
                Ok(None) => {}
                Err(()) => unwritable += 1,
            }
        }
        let mut methods: Vec<MethodId> =
            self.translation.methods.iter().map(|k| k.method).collect();
        methods.sort_unstable();
        methods.dedup();
        for method in methods {
            match self.written_type(method, parameters) {
                Ok(Some(written)) => found.push(Inferred {
                    item: Item::Method(method),
                    written,
                }),
                Ok(None) => {}
                Err(()) => unwritable += 1,
            }
        }
        (found, unwritable)
    }

    fn written_guard(&mut self, field: FieldId, index: usize) -> Result<Option<Written>, ()> {
        let guard = self.analysis.discipline.guards[index];
        let (lock, full) = match guard {
            Guard::Final => return Ok(None),
            Guard::NoGuard => return Ok(Some(Written::NoGuard)),
            Guard::GuardedBy(lock) => (lock, true),
            Guard::WriteGuardedBy(lock) => (lock, false),
        };
        let text = self.describe_lock(lock);
        let classes = self.program.classes();
        let info = classes.field(field);
        let (finals, is_static) = (&self.entered.finals, info.flags.is_static());
        let scope = Scope::of_class(classes, finals, info.class, is_static)
            .with_ghosts(&self.entered.ghosts, None);
        let again = parse_lock(&mut self.translation.algebra, &scope, &text);
        if again != Ok(lock) {
            return Err(());
        }
        Ok(Some(if full {
            Written::GuardedBy(text)
        } else {
            Written::WriteGuardedBy(text)
        }))
    }

    fn written_type(
        &mut self,
        method: MethodId,
        parameters: Parameters,
    ) -> Result<Option<Written>, ()> {
        let classes = self.program.classes();
        let info = classes.method(method);
        let Some(id) = self.general(method) else {
            return Ok(None);
        };
        let silent = info.flags.is_synthetic()
            || classes.is_class_initializer(method)
            || !self.program.is_input(info.class)
            || self.entered.bounds.contains_key(&id)
            || self.translation.input.methods[id.index()].body.is_none()
            || self.entered.assumed.iter().any(|(known, _)| *known == id);
        if silent {
            return Ok(None);
        }
        let body = self.analysis.inferred.bodies[id.index()];
        let text = match parameters {
            Parameters::Named => self.print_in(method, body),
            Parameters::Numbered => print_atomicity(&mut self.translation.algebra, body, &[]),
        };
        if self.parse_again(method, &text) != Some(body) {
            return Err(());
        }
        let atomic = crate::analysis::is_atomic(&mut self.translation.algebra, body);
        // A declaration would take the method for meant so: what can be torn is to be reported again.
        if let Some(why) = (!atomic).then(|| self.evidence(id)).flatten() {
            return Ok(Some(Written::Torn(why)));
        }
        Ok(Some(Written::Atomicity { text, atomic }))
    }

    fn parse_again(&mut self, method: MethodId, text: &str) -> Option<Atomicity> {
        let classes = self.program.classes();
        let names = self.annotations.parameter_names(method);
        let scope = Scope::of_method(classes, &self.entered.finals, method, names)
            .with_ghosts(&self.entered.ghosts, Some(method));
        parse_atomicity(&mut self.translation.algebra, &scope, text).ok()
    }
}
