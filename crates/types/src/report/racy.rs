//! Which proofs hold for sequentially consistent runs only.
//!
//! The paper assumes sequential consistency; on the Java memory model its proofs stand for programs without races on plain data (section 8.3).
//! A proof that rests on a race is not wrong, but it is kept apart: a read that may see any of several writes is atomic only if all threads see the writes in one order.
//! Guaranteed: every method that may access a plain field, or elements without an owner, in a race is found, through all its calls.

use untorn_program::Program;

use crate::analysis::Analysis;
use crate::basic::Basic;
use crate::front::{Translation, What};
use crate::input::{Effect, MethodId, Site};

/// For each method an access in a race, its own or that of a callee.
pub fn find(
    program: &Program,
    translation: &mut Translation,
    analysis: &Analysis,
) -> Vec<Option<Site>> {
    let count = translation.input.methods.len();
    let mut racy: Vec<Option<Site>> = vec![None; count];
    let mut callers: Vec<Vec<MethodId>> = vec![Vec::new(); count];
    for index in 0..count {
        scan(
            program,
            translation,
            analysis,
            MethodId(index as u32),
            &mut racy,
            &mut callers,
        );
    }
    let mut pending: Vec<usize> = (0..count).filter(|&index| racy[index].is_some()).collect();
    while let Some(callee) = pending.pop() {
        for &caller in &callers[callee] {
            if racy[caller.index()].is_none() {
                racy[caller.index()] = racy[callee];
                pending.push(caller.index());
            }
        }
    }
    racy
}

fn scan(
    program: &Program,
    translation: &mut Translation,
    analysis: &Analysis,
    method: MethodId,
    racy: &mut [Option<Site>],
    callers: &mut [Vec<MethodId>],
) {
    let Translation {
        input,
        algebra,
        sites,
        fields,
        ..
    } = translation;
    let Some(graph) = &input.methods[method.index()].body else {
        return;
    };
    // A method that is a mover in every context that keeps the discipline races with nobody.
    let is_step = |algebra: &crate::algebra::Algebra, atomicity| {
        let outcomes: Vec<Basic> = algebra.outcomes(atomicity);
        let harmless = |b: &Basic| b.leq(Basic::Mover) || *b == Basic::Error;
        !outcomes.iter().all(harmless)
    };
    if !is_step(algebra, analysis.inferred.bodies[method.index()]) {
        return;
    }
    let inferred = &analysis.inferred;
    let Some(paths) = inferred.paths(algebra, input, &analysis.discipline, method) else {
        return;
    };
    for (node, &effect) in graph.nodes.iter().zip(&paths.effects) {
        if !is_step(algebra, effect) {
            continue;
        }
        match &node.effect {
            Effect::Access {
                field,
                confined: false,
                ..
            } => {
                let key = fields[field.index()];
                let flags = program.classes().field(key.field).flags;
                if key.content || !flags.is_volatile() {
                    racy[method.index()].get_or_insert(node.site);
                }
            }
            Effect::Does(_) => {
                let what = sites.get(node.site).map(|info| info.what);
                if matches!(what, Some(What::Unowned { .. } | What::Passed { .. })) {
                    racy[method.index()].get_or_insert(node.site);
                }
            }
            Effect::Call(targets) => {
                for target in targets {
                    callers[target.method.index()].push(method);
                }
            }
            _ => {}
        }
    }
}
