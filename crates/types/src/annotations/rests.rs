//! Which proofs rest on which assumptions.
//!
//! A proof rests on an assumption if the method, or anything it may call, is what the assumption speaks of, or accesses a field whose guard depends on it.
//! That is more than need be, never less.

use rustc_hash::FxHashSet;

use super::given::Place;
use crate::input::{Effect, FieldId, MethodId, Program};

/// Something that is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// In one phrase.
    pub what: String,
    /// Where it is said.
    pub place: Place,
    /// Methods that it speaks of.
    pub methods: Vec<MethodId>,
    /// Fields whose guards depend on it.
    pub fields: Vec<FieldId>,
}

impl std::fmt::Display for Assumption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.what, self.place)
    }
}

/// For every assumption the methods whose proofs rest on it.
pub fn resting(program: &Program, assumptions: &[Assumption]) -> Vec<FxHashSet<MethodId>> {
    let mut callers: Vec<Vec<MethodId>> = vec![Vec::new(); program.methods.len()];
    let mut accessing: Vec<Vec<MethodId>> = vec![Vec::new(); program.fields.len()];
    for (index, method) in program.methods.iter().enumerate() {
        let id = MethodId(index as u32);
        for node in method.body.iter().flat_map(|body| &body.nodes) {
            match &node.effect {
                Effect::Call(targets) => {
                    for target in targets {
                        if let Some(list) = callers.get_mut(target.method.index()) {
                            list.push(id);
                        }
                    }
                }
                Effect::Access { field, .. } => {
                    if let Some(list) = accessing.get_mut(field.index()) {
                        list.push(id);
                    }
                }
                _ => {}
            }
        }
    }
    assumptions
        .iter()
        .map(|assumption| {
            let of_fields = (assumption.fields.iter())
                .filter_map(|field| accessing.get(field.index()))
                .flatten();
            let mut pending: Vec<MethodId> = assumption
                .methods
                .iter()
                .chain(of_fields)
                .copied()
                .collect();
            let mut found = FxHashSet::default();
            while let Some(method) = pending.pop() {
                if found.insert(method) {
                    pending.extend(callers.get(method.index()).into_iter().flatten());
                }
            }
            found
        })
        .collect()
}
