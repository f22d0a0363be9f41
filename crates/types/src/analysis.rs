//! Both phases in a row, and the verdict on each method.
//!
//! Guaranteed: *proved* means that every context which keeps the locking discipline sees the method as atomic, and that no code of the program breaks the discipline.
//! Code outside the program is trusted to enter through open methods only, and to hold what these declare.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::algebra::{Algebra, Atomicity};
use crate::basic::Basic;
use crate::guards::{self, Guarded, SolveError};
use crate::infer::{self, Inferred, Limits, Violation};
use crate::input::{Discipline, MethodId, Program, RegionId};
use crate::path::Fault;

/// The types of a program and what they rest on.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The guards, and why some are missing.
    pub guarded: Guarded,
    /// The discipline that the types rest on: declared guards that fail are left out.
    pub discipline: Discipline,
    /// The types.
    pub inferred: Inferred,
    /// How long the guards took.
    pub solving: Duration,
}

/// What the types say of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Atomic in every context.
    Proved,
    /// Not shown to be atomic.
    Unproved(Fault),
    /// Nothing can be shown, since a method that anyone may call breaks the discipline.
    Undisciplined(Violation),
    /// There is no body to judge.
    Unknown,
}

/// Infers guards, then atomicities.
///
/// Assumed methods are what they are assumed to be, whatever their bodies do; the accesses in these still count for the guards.
pub fn analyze(
    algebra: &mut Algebra,
    program: &Program,
    assumed: &[(MethodId, Atomicity)],
    limits: Limits,
) -> Result<Analysis, SolveError> {
    let clock = Instant::now();
    let guarded = guards::infer_guards(&mut algebra.locks, program)?;
    let solving = clock.elapsed();
    let discipline = guarded.proven();
    let inferred = infer::infer(algebra, &assuming(program, assumed), &discipline, limits);
    Ok(Analysis {
        guarded,
        discipline,
        inferred,
        solving,
    })
}

/// The program with the bodies of assumed methods taken out.
pub fn assuming<'a>(program: &'a Program, assumed: &[(MethodId, Atomicity)]) -> Cow<'a, Program> {
    let mut program = Cow::Borrowed(program);
    for &(method, atomicity) in assumed {
        if let Some(method) = program.to_mut().methods.get_mut(method.index()) {
            method.body = None;
            method.declared = Some(atomicity);
        }
    }
    program
}

impl Analysis {
    /// The verdict on a method's own body; overriders have verdicts of their own.
    pub fn verdict(&self, algebra: &mut Algebra, program: &Program, method: MethodId) -> Verdict {
        let Some(paths) = self
            .inferred
            .paths(algebra, program, &self.discipline, method)
        else {
            return Verdict::Unknown;
        };
        if let Some(violation) = self.indiscipline() {
            return Verdict::Undisciplined(violation);
        }
        let body = self.inferred.bodies[method.index()];
        if is_atomic(algebra, body) {
            return Verdict::Proved;
        }
        // Contexts that break the discipline do not occur: only the compound ones count.
        let bound = algebra.excused(Atomicity::ATOMIC, body);
        let graph = program.methods[method.index()].body.as_ref();
        let fault = graph.and_then(|graph| crate::path::explain(algebra, graph, &paths, bound));
        fault.map_or(Verdict::Unknown, Verdict::Unproved)
    }

    /// Is the region atomic in every context that its method can be called in?
    pub fn proves_region(
        &self,
        algebra: &mut Algebra,
        program: &Program,
        method: MethodId,
        region: RegionId,
    ) -> bool {
        let paths = self
            .inferred
            .paths(algebra, program, &self.discipline, method);
        let inside = paths.and_then(|paths| paths.regions.get(&region).copied());
        self.indiscipline().is_none() && inside.is_some_and(|a| is_atomic(algebra, a))
    }

    /// What keeps everything from being proved, if anything does.
    pub fn indiscipline(&self) -> Option<Violation> {
        self.inferred
            .violations
            .iter()
            .copied()
            .find(|v| matches!(v, Violation::Thread(..) | Violation::Undisciplined(_)))
    }
}

/// Compound in no situation.
pub fn is_atomic(algebra: &mut Algebra, a: Atomicity) -> bool {
    !algebra.outcomes(a).contains(&Basic::Cmpd)
}
