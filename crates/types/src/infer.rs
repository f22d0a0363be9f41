//! Inference of method atomicities: section 6 of *Types for Atomicity*, with overriding by inverse substitution (7.2).
//!
//! Every method without a declaration is a variable; its body and its overriders bound it from below.
//! The least solution is the fixpoint from `const` upwards, computed component by component of the dependency graph, callees and overriders first, so that a program without recursion needs each body once.
//!
//! Where we differ: a method's types test at most [`Limits::tests`] locks; beyond that the longest paths are lifted, which only makes types larger.
//! A declaration that does not hold is not believed: callers see its join with what the body is, so that no proof rests on it.
//! A call whose possible targets are known takes the join of their types instead of the declared method's.
//!
//! Guaranteed: the result satisfies all constraints, and is the least such if no limit was hit.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::algebra::{Algebra, Atomicity, Valuation};
use crate::basic::Basic;
use crate::holding::{self, Holdings, NetLocks, Overriders};
use crate::input::{Discipline, MethodId, NodeId, Overrides, Program, RegionId, Site, Target};
use crate::locks::{Lock, Locks, Root};
use crate::path::{self, Fault, Meaning, Paths};
use crate::substitution::Substitution;

/// Bounds that keep types readable and the fixpoint short.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most locks that the type of one method may test.
    pub tests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { tests: 24 }
    }
}

/// A declaration that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The body is above the declared atomicity.
    Body(MethodId),
    /// An overrider is above what the overridden method declares.
    Override {
        /// The overriding method.
        by: MethodId,
        /// The method with the declaration.
        of: MethodId,
    },
    /// `[EXP FORK]`: the thread's method breaks the discipline.
    Thread(MethodId, Site),
    /// `[PROG]`: a method that anyone may call breaks the discipline, so guards that it tests protect nothing.
    Undisciplined(MethodId),
}

/// The types of a program.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// What callers of each method may rely on.
    pub methods: Vec<Atomicity>,
    /// What each body by itself has; the same where nothing is declared and nothing overrides.
    pub bodies: Vec<Atomicity>,
    /// Declarations that do not hold.
    pub violations: Vec<Violation>,
    /// How often a body was solved, for the statistics.
    pub solved: usize,
    holdings: Vec<Holdings>,
    nets: Vec<NetLocks>,
}

impl Inferred {
    /// The paths of one body under the inferred types.
    pub fn paths(
        &self,
        algebra: &mut Algebra,
        program: &Program,
        discipline: &Discipline,
        method: MethodId,
    ) -> Option<Paths> {
        let graph = program.methods.get(method.index())?.body.as_ref()?;
        // A method that was not typed by its body has no paths.
        if self.holdings[method.index()].len() != graph.nodes.len() {
            return None;
        }
        let meaning = Meaning {
            fields: &program.fields,
            discipline,
            methods: &self.methods,
            nets: &self.nets,
        };
        Some(path::solve(
            algebra,
            graph,
            &self.holdings[method.index()],
            &meaning,
        ))
    }

    /// The locks that a method has taken and holds for certain before a node.
    pub fn held_at(&self, method: MethodId, node: NodeId) -> Vec<Lock> {
        let holding = self.holdings.get(method.index());
        let holding = holding.and_then(|all| all.get(node.index())?.as_ref());
        holding.map_or_else(Vec::new, |holding| holding.held().collect())
    }

    /// Why a method's body is not below the bound.
    pub fn explain(
        &self,
        algebra: &mut Algebra,
        program: &Program,
        discipline: &Discipline,
        method: MethodId,
        bound: Atomicity,
    ) -> Option<Fault> {
        let paths = self.paths(algebra, program, discipline, method)?;
        let graph = program.methods.get(method.index())?.body.as_ref()?;
        path::explain(algebra, graph, &paths, bound)
    }
}

impl Inferred {
    /// Why a region of a method is compound in some context; nothing if it never is.
    pub fn explain_region(
        &self,
        algebra: &mut Algebra,
        program: &Program,
        discipline: &Discipline,
        method: MethodId,
        region: RegionId,
    ) -> Option<Fault> {
        let paths = self.paths(algebra, program, discipline, method)?;
        let graph = program.methods.get(method.index())?.body.as_ref()?;
        path::explain_region(algebra, graph, &paths, region)
    }

    /// Why a callee is compound when it is called from this node in this situation; nothing if it is not.
    pub fn explain_call(
        &self,
        algebra: &mut Algebra,
        program: &Program,
        discipline: &Discipline,
        call: (MethodId, NodeId, &Target),
        situation: &Valuation,
    ) -> Option<Fault> {
        let (caller, node, target) = call;
        let paths = self.paths(algebra, program, discipline, target.method)?;
        let graph = program.methods.get(target.method.index())?.body.as_ref()?;
        let holding = self.holdings[caller.index()].get(node.index())?.as_ref()?;
        let theta = target.actuals.substitution(&discipline.slots);
        let mut tested: Vec<Lock> = Vec::new();
        for &effect in &paths.effects {
            tested.extend(algebra.support(effect));
        }
        tested.sort_unstable();
        tested.dedup();
        let mut held = Vec::new();
        let mut special = Vec::new();
        for lock in tested {
            let Some(image) = theta.apply(&mut algebra.locks, lock) else {
                continue;
            };
            if algebra.locks.is_special(image) {
                special.push((lock, image));
                continue;
            }
            let asked = algebra.held(image, Atomicity::CONST, Atomicity::CMPD);
            let answer = holding.resolve(algebra, asked);
            if algebra.eval(answer, situation) == Basic::Const {
                held.push(lock);
            }
        }
        let mut inside = Valuation::holding(held);
        for (ghost, image) in special {
            if image == Locks::NONE {
                inside.set_none(ghost);
            } else {
                inside.set_always_held(ghost);
            }
        }
        path::explain_in(algebra, graph, &paths, None, &inside)
    }
}

/// Infers the least atomicities under a locking discipline, and checks declarations.
pub fn infer(
    algebra: &mut Algebra,
    program: &Program,
    discipline: &Discipline,
    limits: Limits,
) -> Inferred {
    let (holdings, nets) =
        holding::program_holdings(&mut algebra.locks, program, &discipline.slots);
    let size = program.methods.len();
    let mut state = Inferred {
        methods: vec![Atomicity::CONST; size],
        bodies: vec![Atomicity::CONST; size],
        violations: Vec::new(),
        solved: 0,
        holdings,
        nets,
    };
    let overriders = holding::overriders(program);
    for (index, method) in program.methods.iter().enumerate() {
        state.methods[index] = match method.declared {
            Some(declared) => declared,
            // Nobody knows what this does.
            None if method.body.is_none() && overriders[index].is_empty() => Atomicity::CMPD,
            None => Atomicity::CONST,
        };
    }
    let mut users: Vec<Vec<MethodId>> = vec![Vec::new(); size];
    let edges = holding::dependencies(program);
    for &(user, used) in &edges {
        if let Some(list) = users.get_mut(used.index()) {
            list.push(user);
        }
    }
    let solver = Solver {
        program,
        discipline,
        limits,
        overriders: &overriders,
        users: &users,
    };
    for component in holding::components(size, edges.into_iter()) {
        solver.component(algebra, &component, &mut state);
    }
    solver.check(algebra, &mut state);
    state
}

struct Solver<'a> {
    program: &'a Program,
    discipline: &'a Discipline,
    limits: Limits,
    overriders: &'a Overriders<'a>,
    users: &'a [Vec<MethodId>],
}

impl Solver<'_> {
    /// The worklist over one component; everything it uses outside is final.
    fn component(&self, algebra: &mut Algebra, component: &[MethodId], state: &mut Inferred) {
        let inside: FxHashSet<MethodId> = component.iter().copied().collect();
        let mut queue: VecDeque<MethodId> = component.iter().copied().collect();
        let mut queued = inside.clone();
        while let Some(method) = queue.pop_front() {
            queued.remove(&method);
            let bound = self.lower_bound(algebra, method, state);
            let known = state.methods[method.index()];
            let joined = algebra.join(known, bound);
            if joined == known {
                continue;
            }
            state.methods[method.index()] = joined;
            for &user in &self.users[method.index()] {
                if inside.contains(&user) && queued.insert(user) {
                    queue.push_back(user);
                }
            }
        }
    }

    /// `lift(P, E, d)` of the one constraint `d ⊑ α` of a method: its body joined with what overriders ask for.
    fn lower_bound(
        &self,
        algebra: &mut Algebra,
        method: MethodId,
        state: &mut Inferred,
    ) -> Atomicity {
        let input = &self.program.methods[method.index()];
        if input.body.is_some() {
            state.solved += 1;
            let paths = state.paths(algebra, self.program, self.discipline, method);
            let whole = paths.map_or(Atomicity::CMPD, |paths| paths.whole);
            let body = self.lifted(algebra, method, whole);
            state.bodies[method.index()] = body;
        }
        let mut bound = state.bodies[method.index()];
        for &(by, overrides) in &self.overriders[method.index()] {
            let theirs = self.inverted(algebra, method, by, overrides, state);
            bound = algebra.join(bound, theirs);
        }
        self.limited(algebra, bound)
    }

    fn lifted(&self, algebra: &mut Algebra, method: MethodId, a: Atomicity) -> Atomicity {
        let scope = &self.program.methods[method.index()].scope;
        let bad: Vec<Lock> = algebra
            .support(a)
            .into_iter()
            .filter(|&lock| !scope.admits(&algebra.locks, lock))
            .collect();
        let lifted = bad.into_iter().fold(a, |a, lock| algebra.forget(a, lock));
        self.limited(algebra, lifted)
    }

    fn limited(&self, algebra: &mut Algebra, a: Atomicity) -> Atomicity {
        let mut support = algebra.support(a);
        if support.len() <= self.limits.tests {
            return a;
        }
        support.sort_by_cached_key(|&lock| algebra.locks.presentation_key(lock));
        support.sort_by_key(|&lock| algebra.locks.size(lock));
        support
            .split_off(self.limits.tests)
            .into_iter()
            .fold(a, |a, l| algebra.forget(a, l))
    }

    fn inverted(
        &self,
        algebra: &mut Algebra,
        of: MethodId,
        by: MethodId,
        overrides: &Overrides,
        state: &Inferred,
    ) -> Atomicity {
        let theta = overrides
            .ghosts
            .extend(Substitution::identity(), &self.discipline.slots);
        let scope = &self.program.methods[of.index()].scope;
        algebra.inverse_substitute(state.methods[by.index()], &theta, |locks, lock| {
            scope.admits(locks, lock)
        })
    }

    fn check(&self, algebra: &mut Algebra, state: &mut Inferred) {
        let mut violations = Vec::new();
        for (index, method) in self.program.methods.iter().enumerate() {
            let of = MethodId(index as u32);
            let Some(declared) = method.declared else {
                continue;
            };
            if method.body.is_some() && !algebra.leq(state.bodies[index], declared) {
                violations.push(Violation::Body(of));
            }
            for &(by, overrides) in &self.overriders[index] {
                let theirs = self.inverted(algebra, of, by, overrides, state);
                if !algebra.leq(theirs, declared) {
                    violations.push(Violation::Override { by, of });
                }
            }
        }
        for thread in &self.program.threads {
            let Some(&run) = state.methods.get(thread.run.index()) else {
                continue;
            };
            let bound = algebra.held(Locks::TLL, Atomicity::CMPD, Atomicity::ERROR);
            if !algebra.leq(run, bound) {
                violations.push(Violation::Thread(thread.run, thread.site));
            }
        }
        for (index, method) in self.program.methods.iter().enumerate() {
            // Strangers hold what is declared, and their objects have no protecting locks.
            let mut held = method.holds.clone();
            held.push(Locks::TLL);
            let mut at = Valuation::holding(held);
            for &ghost in &method.scope.ghosts {
                let ghost = algebra.locks.root(Root::Ghost(ghost));
                if !method.holds.contains(&ghost) {
                    at.set_none(ghost);
                }
            }
            if method.open && algebra.eval(state.methods[index], &at) == Basic::Error {
                violations.push(Violation::Undisciplined(MethodId(index as u32)));
            }
        }
        state.violations = violations;
    }
}
