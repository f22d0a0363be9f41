//! Classes of a library that show no sign of threads: nothing is said of them, and that is said.

use serde_json::{Map, Value, json};
use untorn_classfile::{ClassFile, facts_of};
use untorn_program::Program;
use untorn_report::NOT_FOR_THREADS;
use untorn_spec::{Specification, Stage};

/// How many such classes are named.
const NAMED: usize = 10;

/// What a check of a library does not look at.
#[derive(Debug, Default)]
pub struct Unthreaded {
    count: usize,
    first: Vec<String>,
}

/// The classes with methods of which the specification wants none to be one step, since no lock, volatile field or concurrent collection says that several threads use them.
pub fn not_for_threads(program: &Program, spec: &Specification) -> Unthreaded {
    let mut found = Unthreaded::default();
    for &class in program.inputs() {
        let bytes = &program.classes().class(class).bytes;
        let facts = ClassFile::parse(bytes).ok();
        let Some(facts) = facts.and_then(|parsed| facts_of(&parsed).ok()) else {
            continue;
        };
        let candidates = |method: &&untorn_spec::MethodFacts| method.is_exported();
        let mut methods = facts.methods.iter().filter(candidates).peekable();
        let is_threaded = facts.expects_threads();
        let wanted = |method: &untorn_spec::MethodFacts| {
            spec.decide(Stage::Check, &facts, method, None).atomic
        };
        if !is_threaded && methods.peek().is_some() && !methods.any(wanted) {
            found.count += 1;
            if found.first.len() < NAMED {
                found.first.push(facts.name);
            }
        }
    }
    found.first.sort();
    found
}

impl Unthreaded {
    /// Puts the count where reports find it.
    pub fn put_into(self, stats: &mut Map<String, Value>) {
        if self.count > 0 {
            let counted = json!({ "count": self.count, "first": self.first });
            stats.insert(NOT_FOR_THREADS.to_owned(), counted);
        }
    }
}
