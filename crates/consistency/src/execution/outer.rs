//! Objects that are made for another one and keep it: iterators and their collections.
//!
//! `iterator()` gives a new object whose final field is the collection itself.
//! Whoever holds the collection's lock and calls the iterator, which takes that lock again under the name of its field, is in one critical section all the time.

use rustc_hash::FxHashMap;
use untorn_program::ir::{Body, Def, InvokeKind, Op};
use untorn_program::{FieldId, MethodId, Program, ValueId};

/// How far constructors that call constructors are followed.
const DEEPEST: usize = 4;

/// A final field of a new object, and the parameter that it keeps; the receiver is parameter 0.
pub type Kept = (FieldId, usize);

/// What the methods of a program make, found when first asked for.
#[derive(Debug)]
pub struct Makers<'a> {
    program: &'a Program,
    known: FxHashMap<MethodId, Vec<Kept>>,
}

impl<'a> Makers<'a> {
    /// Nothing is known yet.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            known: FxHashMap::default(),
        }
    }

    /// Which parameters of a method are kept by the new object that it always returns.
    pub fn kept(&mut self, method: MethodId) -> &[Kept] {
        let program = self.program;
        self.known.entry(method).or_insert_with(|| {
            program
                .body(method)
                .map_or_else(Vec::new, |body| made(program, body))
        })
    }
}

fn made(program: &Program, body: &Body) -> Vec<Kept> {
    let mut results = body.instrs.iter().filter_map(|instr| match instr.op {
        Op::Return { value } => Some(value),
        _ => None,
    });
    let (Some(Some(result)), None) = (results.next(), results.next()) else {
        return Vec::new();
    };
    let is_new = |value| {
        matches!(
            body.defining(value).map(|instr| &instr.op),
            Some(Op::New { .. })
        )
    };
    if !is_new(result) {
        return Vec::new();
    }
    constructed(program, body, result, DEEPEST)
}

/// The fields of an object that its constructor sets to parameters of the body that calls it.
fn constructed(program: &Program, body: &Body, object: ValueId, depth: usize) -> Vec<Kept> {
    let classes = program.classes();
    let mut kept = Vec::new();
    for instr in &body.instrs {
        match &instr.op {
            Op::PutField {
                object: of,
                field,
                value,
            } if *of == object && classes.field(*field).flags.is_final() => {
                kept.extend(parameter(body, *value).map(|param| (*field, param)));
            }
            Op::Invoke {
                kind: InvokeKind::Special,
                method,
                args,
            } if depth > 0 && args.first() == Some(&object) && classes.is_constructor(*method) => {
                let Some(callee) = program.body(*method) else {
                    continue;
                };
                let Some(this) = callee.receiver() else {
                    continue;
                };
                for (field, position) in constructed(program, callee, this, depth - 1) {
                    let param = args.get(position).and_then(|arg| parameter(body, *arg));
                    kept.extend(param.map(|param| (field, param)));
                }
            }
            _ => {}
        }
    }
    kept
}

fn parameter(body: &Body, value: ValueId) -> Option<usize> {
    match body.value(value).def {
        Def::Param(position) => Some(usize::from(position)),
        _ => None,
    }
}
