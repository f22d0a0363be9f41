//! Which regions ought to be atomic, by the specification that all analyses share.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use untorn_classfile::{ClassFile, facts_of};
use untorn_program::{ClassId, MethodId, Program};
use untorn_spec::{ClassFacts, Specification, Stage};

/// The specification, asked about the methods of a program.
#[derive(Debug)]
pub struct Ought<'a> {
    program: &'a Program,
    spec: &'a Specification,
    facts: RefCell<FxHashMap<ClassId, Option<ClassFacts>>>,
}

impl<'a> Ought<'a> {
    /// Asks this specification.
    pub fn new(program: &'a Program, spec: &'a Specification) -> Ought<'a> {
        Ought {
            program,
            spec,
            facts: RefCell::default(),
        }
    }

    /// Whether the method of an analyzed class, or its block of this number, ought to be atomic.
    pub fn be_atomic(&self, method: MethodId, block: Option<u32>) -> bool {
        let classes = self.program.classes();
        let class = classes.method(method).class;
        if !self.program.is_input(class) {
            return false;
        }
        let mut cache = self.facts.borrow_mut();
        let facts = cache.entry(class).or_insert_with(|| {
            let parsed = ClassFile::parse(&classes.class(class).bytes).ok()?;
            facts_of(&parsed).ok()
        });
        let Some(facts) = facts else { return false };
        let own = facts.methods.iter().find(|own| {
            own.name == classes.method_name(method)
                && own.descriptor == classes.method_descriptor(method)
        });
        own.is_some_and(|own| {
            let mut own = own.clone();
            own.interrupts |= self.program.waits(method);
            own.is_shared = self.program.is_called_by_several(method);
            self.spec.decide(Stage::Check, facts, &own, block).atomic
        })
    }
}
