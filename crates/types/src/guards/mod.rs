//! Guards by satisfiability: the first phase of inference, which the paper calls Rcc/Sat.
//!
//! The paper refers to earlier work for this phase; the encoding in `encode.rs` is our own.
//! It chooses a guard for as many fields as possible, together with the ghost arguments, the protecting locks and the locks that methods require of their callers.
//!
//! Guaranteed: the chosen discipline holds at every access, call and lock operation of the input; no discipline over the given candidates guards more fields, unless [`Guarded::optimal`] says otherwise.
//! May over-report: a field counts as unguarded if its guard is not among the candidates.

mod broken;
mod encode;
mod maxsat;
pub mod problem;

use rustc_hash::FxHashSet;

use crate::input::{Discipline, FieldId, Guard, MethodId, Program};
use crate::locks::{Lock, Locks};

use broken::Wanted;
pub use broken::{Broken, Reason};
use encode::{Encoder, Strength};
pub use maxsat::SolveError;
use problem::Problem;

/// The discipline that was found.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The guard of every field and the choice for every slot.
    pub discipline: Discipline,
    /// For every method the locks that its callers hold.
    pub holds: Vec<Vec<Lock>>,
    /// Fields with candidates that got no guard, or whose declared guard fails, and why.
    pub broken: Vec<Broken>,
    /// Fields whose guard holds for writes only, and the read that breaks it.
    pub weak: Vec<Broken>,
    /// Declared requirements that some caller does not meet.
    pub unmet: Vec<(MethodId, Lock)>,
    /// No discipline over the candidates guards more fields.
    pub optimal: bool,
    /// Clauses and independent subproblems, for the statistics.
    pub size: (usize, usize),
}

impl Guarded {
    /// The discipline without the declared guards that fail: what proofs may rest on.
    /// The discipline as declared is for telling what is wrong.
    pub fn proven(&self) -> Discipline {
        let mut discipline = self.discipline.clone();
        for broken in &self.broken {
            discipline.guards[broken.field.index()] = Guard::NoGuard;
        }
        discipline
    }
}

/// Infers the discipline of a program.
pub fn infer_guards(locks: &mut Locks, program: &Program) -> Result<Guarded, SolveError> {
    let problem = Problem::of(locks, program);
    solve(locks, &problem)
}

/// Solves a problem that was already read off.
pub fn solve(locks: &mut Locks, problem: &Problem) -> Result<Guarded, SolveError> {
    let mut encoder = Encoder::new(locks, problem);
    encoder.encode();
    let vars = encoder.vars;
    let granted = encoder.wishes.solve()?;
    let guards = problem
        .fields
        .iter()
        .zip(&vars.guards)
        .map(|(field, choices)| {
            let chosen = choices.iter().find(|(.., lit)| granted.is(*lit));
            match (field.fixed, chosen) {
                (Some(fixed), _) => fixed,
                (None, Some(&(Strength::Full, lock, _))) => Guard::GuardedBy(lock),
                (None, Some(&(Strength::Writes, lock, _))) => Guard::WriteGuardedBy(lock),
                (None, None) => Guard::NoGuard,
            }
        })
        .collect();
    let slots = vars
        .slots
        .iter()
        .map(|choices| {
            choices
                .iter()
                .find(|(_, lit)| granted.is(*lit))
                .map_or(Locks::NONE, |c| c.0)
        })
        .collect();
    let mut holds: Vec<Vec<Lock>> = vec![Vec::new(); problem.methods.len()];
    let mut unmet = Vec::new();
    for (&(method, lock), &lit) in &vars.holds {
        if granted.is(lit) {
            holds[method.index()].push(lock);
        } else if problem.methods[method.index()].holds.contains(&lock) {
            unmet.push((method, lock));
        }
    }
    for locks in &mut holds {
        locks.sort_unstable();
    }
    unmet.sort_unstable();
    let writes = problem.accesses.iter().filter(|access| access.write);
    let written: FxHashSet<FieldId> = writes.map(|access| access.field).collect();
    let failed: Vec<bool> = problem
        .fields
        .iter()
        .zip(&vars.guards)
        .enumerate()
        .map(|(index, (field, choices))| match field.fixed {
            Some(Guard::Final) => written.contains(&FieldId(index as u32)),
            Some(Guard::NoGuard) => false,
            _ => !choices.iter().any(|&(.., lit)| granted.is(lit)),
        })
        .collect();
    let discipline = Discipline { guards, slots };
    let mut explain = |wanted| broken::find(locks, problem, &discipline, &holds, &failed, wanted);
    let (broken, weak) = (explain(Wanted::Failed), explain(Wanted::Weak));
    Ok(Guarded {
        discipline,
        holds,
        broken,
        weak,
        unmet,
        optimal: granted.optimal,
        size: (granted.clauses, granted.components),
    })
}
