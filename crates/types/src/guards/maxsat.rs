//! Satisfying as many wishes as possible, exactly, on top of a SAT solver.
//!
//! Clauses are propagated first and then split into independent components, so that a large program is many small problems.
//! Within a component each level of wishes is first satisfied greedily and then improved under a cardinality bound until the solver refutes any improvement, which proves the optimum; later levels may not spoil earlier ones.

use rustc_hash::FxHashMap;
use rustsat::encodings::card::{BoundUpper, Totalizer};
use rustsat::instances::{BasicVarManager, Cnf, ManageVars};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal, Var};
use rustsat_batsat::BasicSolver;

/// Why no answer came out.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The hard constraints contradict each other.
    #[error("the declared guards and ghost arguments contradict each other")]
    Contradiction,
    /// The solver gave up.
    #[error("the SAT solver failed: {0}")]
    Solver(String),
}

fn failed(error: impl std::fmt::Display) -> SolveError {
    SolveError::Solver(error.to_string())
}

/// Beyond this many cells of a cardinality encoding the greedy answer is kept.
const MAX_ENCODING: usize = 4_000_000;

/// Hard clauses and wishes over variables `0..vars`.
#[derive(Debug, Default)]
pub struct Wishes {
    vars: u32,
    clauses: Vec<Vec<Lit>>,
    /// Most important level first.
    levels: Vec<Vec<Lit>>,
    /// Granted one by one where they cost nothing.
    preferences: Vec<Lit>,
}

/// The answer.
#[derive(Debug)]
pub struct Granted {
    /// The value of every variable.
    pub values: Vec<bool>,
    /// Every level is satisfied as far as possible; else only maximally.
    pub optimal: bool,
    /// Independent subproblems that needed the solver.
    pub components: usize,
    /// Clauses before propagation.
    pub clauses: usize,
}

impl Granted {
    /// The value of a literal.
    pub fn is(&self, lit: Lit) -> bool {
        self.values
            .get(lit.vidx())
            .is_some_and(|&v| v == lit.is_pos())
    }
}

impl Wishes {
    /// A fresh variable, as its positive literal.
    pub fn var(&mut self) -> Lit {
        self.vars += 1;
        Lit::positive(self.vars - 1)
    }

    /// A hard clause.
    pub fn clause(&mut self, lits: impl IntoIterator<Item = Lit>) {
        self.clauses.push(lits.into_iter().collect());
    }

    /// Not both.
    pub fn at_most_one(&mut self, lits: &[Lit]) {
        for (i, &a) in lits.iter().enumerate() {
            for &b in &lits[i + 1..] {
                self.clause([!a, !b]);
            }
        }
    }

    /// A wish of a level.
    pub fn wish(&mut self, level: usize, lit: Lit) {
        if self.levels.len() <= level {
            self.levels.resize(level + 1, Vec::new());
        }
        self.levels[level].push(lit);
    }

    /// Something nice to have.
    pub fn prefer(&mut self, lit: Lit) {
        self.preferences.push(lit);
    }

    /// Solves.
    pub fn solve(self) -> Result<Granted, SolveError> {
        let fixed = propagate(self.vars, &self.clauses)?;
        let mut parts = self.components(&fixed);
        let mut granted = Granted {
            values: fixed.iter().map(|v| v.unwrap_or(false)).collect(),
            optimal: true,
            components: parts.len(),
            clauses: self.clauses.len(),
        };
        for part in &mut parts {
            granted.optimal &= part.solve(&mut granted.values)?;
        }
        Ok(granted)
    }

    fn components(&self, fixed: &[Option<bool>]) -> Vec<Component> {
        let mut sets: Vec<u32> = (0..self.vars).collect();
        let open = |lit: &&Lit| fixed[lit.vidx()].is_none();
        let satisfied = |c: &&Vec<Lit>| c.iter().any(|lit| fixed[lit.vidx()] == Some(lit.is_pos()));
        let live: Vec<&Vec<Lit>> = self.clauses.iter().filter(|c| !satisfied(c)).collect();
        for clause in &live {
            let mut lits = clause.iter().filter(open);
            if let Some(first) = lits.next() {
                for lit in lits {
                    union(&mut sets, first.vidx32(), lit.vidx32());
                }
            }
        }
        let mut index: FxHashMap<u32, usize> = FxHashMap::default();
        let mut parts: Vec<Component> = Vec::new();
        let mut local: Vec<Option<(usize, Lit)>> = vec![None; self.vars as usize];
        for var in 0..self.vars {
            if fixed[var as usize].is_some() {
                continue;
            }
            let at = *index.entry(find(&mut sets, var)).or_insert_with(|| {
                parts.push(Component {
                    levels: vec![Vec::new(); self.levels.len()],
                    ..Component::default()
                });
                parts.len() - 1
            });
            let name = Lit::positive(parts[at].vars.len() as u32);
            local[var as usize] = Some((at, name));
            parts[at].vars.push(var);
        }
        let rename = |lit: Lit| {
            local[lit.vidx()].map(|(at, name)| (at, if lit.is_pos() { name } else { !name }))
        };
        for clause in live {
            let lits: Vec<(usize, Lit)> = clause.iter().filter_map(|&lit| rename(lit)).collect();
            if let Some(&(at, _)) = lits.first() {
                parts[at]
                    .clauses
                    .push(lits.into_iter().map(|(_, lit)| lit).collect());
            }
        }
        for (level, wishes) in self.levels.iter().enumerate() {
            for (at, lit) in wishes.iter().filter_map(|&lit| rename(lit)) {
                parts[at].levels[level].push(lit);
            }
        }
        for (at, lit) in self.preferences.iter().filter_map(|&lit| rename(lit)) {
            parts[at].preferences.push(lit);
        }
        parts
    }
}

fn find(sets: &mut [u32], mut at: u32) -> u32 {
    while sets[at as usize] != at {
        sets[at as usize] = sets[sets[at as usize] as usize];
        at = sets[at as usize];
    }
    at
}

fn union(sets: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(sets, a), find(sets, b));
    sets[a as usize] = b;
}

/// The values that follow from unit clauses.
fn propagate(vars: u32, clauses: &[Vec<Lit>]) -> Result<Vec<Option<bool>>, SolveError> {
    let mut values: Vec<Option<bool>> = vec![None; vars as usize];
    let mut falsified_by: Vec<Vec<u32>> = vec![Vec::new(); vars as usize * 2];
    let code = |lit: Lit| lit.vidx() * 2 + usize::from(lit.is_neg());
    let mut open: Vec<usize> = Vec::with_capacity(clauses.len());
    let mut units = Vec::new();
    for (index, clause) in clauses.iter().enumerate() {
        open.push(clause.len());
        for &lit in clause {
            falsified_by[code(!lit)].push(index as u32);
        }
        match clause[..] {
            [] => return Err(SolveError::Contradiction),
            [lit] => units.push(lit),
            _ => {}
        }
    }
    while let Some(lit) = units.pop() {
        match values[lit.vidx()] {
            Some(value) if value == lit.is_pos() => continue,
            Some(_) => return Err(SolveError::Contradiction),
            None => values[lit.vidx()] = Some(lit.is_pos()),
        }
        for &index in &falsified_by[code(lit)] {
            open[index as usize] -= 1;
            if open[index as usize] == 1 {
                let clause = &clauses[index as usize];
                let last = clause.iter().find(|l| values[l.vidx()] != Some(l.is_neg()));
                match last {
                    Some(&last) => units.push(last),
                    None => return Err(SolveError::Contradiction),
                }
            }
        }
    }
    Ok(values)
}

#[derive(Debug, Default)]
struct Component {
    /// Local variable to global variable.
    vars: Vec<u32>,
    clauses: Vec<Vec<Lit>>,
    levels: Vec<Vec<Lit>>,
    preferences: Vec<Lit>,
}

struct Search {
    solver: BasicSolver,
    manager: BasicVarManager,
    model: Vec<bool>,
}

impl Component {
    fn solve(&mut self, values: &mut [bool]) -> Result<bool, SolveError> {
        let mut search = Search {
            solver: BasicSolver::default(),
            manager: BasicVarManager::default(),
            model: vec![false; self.vars.len()],
        };
        if let Some(last) = (self.vars.len() as u32).checked_sub(1) {
            search.manager.increase_next_free(Var::new(last + 1));
            search.solver.reserve(Var::new(last)).map_err(failed)?;
        }
        for clause in self.clauses.drain(..) {
            let clause: Clause = clause.into_iter().collect();
            search.solver.add_clause(clause).map_err(failed)?;
        }
        if !search.try_with(&[])? {
            return Err(SolveError::Contradiction);
        }
        let mut optimal = true;
        for wishes in &self.levels {
            optimal &= search.maximize(wishes)?;
        }
        for &lit in &self.preferences {
            if search.is(lit) || search.try_with(&[lit])? {
                search.solver.add_unit(lit).map_err(failed)?;
            }
        }
        for (&var, &value) in self.vars.iter().zip(&search.model) {
            values[var as usize] = value;
        }
        Ok(optimal)
    }
}

impl Search {
    fn is(&self, lit: Lit) -> bool {
        self.model[lit.vidx()] == lit.is_pos()
    }

    /// Solves under assumptions; keeps the model if there is one.
    fn try_with(&mut self, assumptions: &[Lit]) -> Result<bool, SolveError> {
        match self.solver.solve_assumps(assumptions).map_err(failed)? {
            SolverResult::Sat => {}
            SolverResult::Unsat => return Ok(false),
            SolverResult::Interrupted => return Err(SolveError::Solver("interrupted".to_owned())),
        }
        for (index, value) in self.model.iter_mut().enumerate() {
            let lit = Lit::positive(index as u32);
            *value = self.solver.lit_val(lit).map_err(failed)? == TernaryVal::True;
        }
        Ok(true)
    }

    /// Satisfies as many wishes as possible and commits to that number; tells whether it is proved to be the most.
    fn maximize(&mut self, wishes: &[Lit]) -> Result<bool, SolveError> {
        let mut granted: Vec<Lit> = Vec::with_capacity(wishes.len());
        let mut denied: Vec<Lit> = Vec::new();
        for &wish in wishes {
            granted.push(wish);
            // The model found last satisfies all that is granted so far.
            if !self.is(wish) && !self.try_with(&granted)? {
                granted.pop();
                denied.push(wish);
            }
        }
        let best = self.model.clone();
        // Wishes that cannot be granted even alone need no counting.
        let mut contested = Vec::new();
        for wish in denied {
            if self.try_with(&[wish])? {
                contested.push(wish);
            }
        }
        self.model = best;
        if contested.is_empty() {
            return self.commit(&granted).map(|()| true);
        }
        let size = granted.len() + contested.len();
        if size.saturating_mul(contested.len()) > MAX_ENCODING {
            return self.commit(&granted).map(|()| false);
        }
        let all: Vec<Lit> = granted.iter().chain(&contested).copied().collect();
        let mut missing = contested.len();
        let mut counter: Totalizer = all.iter().map(|&wish| !wish).collect();
        let mut encoding = Cnf::default();
        counter
            .encode_ub(0..=missing, &mut encoding, &mut self.manager)
            .map_err(failed)?;
        self.solver.add_cnf(encoding).map_err(failed)?;
        while missing > 0 {
            let bound = counter.enforce_ub(missing - 1).map_err(failed)?;
            let best = self.model.clone();
            if !self.try_with(&bound)? {
                self.model = best;
                break;
            }
            missing = all.iter().filter(|&&wish| !self.is(wish)).count();
        }
        self.commit(&counter.enforce_ub(missing).map_err(failed)?)?;
        Ok(true)
    }

    fn commit(&mut self, lits: &[Lit]) -> Result<(), SolveError> {
        lits.iter()
            .try_for_each(|&lit| self.solver.add_unit(lit).map_err(failed))
    }
}

#[cfg(test)]
mod tests {
    use super::Wishes;
    use proptest::prelude::*;
    use rustsat::types::Lit;

    const VARS: u32 = 7;

    fn lits(max: usize) -> impl Strategy<Value = Vec<(u32, bool)>> {
        proptest::collection::vec((0..VARS, any::<bool>()), 1..=max)
    }

    fn lit((var, positive): (u32, bool)) -> Lit {
        if positive {
            Lit::positive(var)
        } else {
            Lit::negative(var)
        }
    }

    proptest! {
           #![proptest_config(ProptestConfig::with_cases(400))]

           /// The levels come out lexicographically as high as any assignment can bring them.
           #[test]
           fn no_assignment_grants_more(
               clauses in proptest::collection::vec(lits(3), 0..16),
               first in lits(9),
               second in lits(9),
           ) {
               let mut wishes = Wishes::default();
               (0..VARS).for_each(|_| { wishes.var(); });
               for clause in &clauses {
                   wishes.clause(clause.iter().map(|&l| lit(l)));
               }
               for (level, list) in [&first, &second].into_iter().enumerate() {
                   for &l in list {
    wishes.wish(level, lit(l));
    }
               }
               let is = |bits: u32, (var, positive): (u32, bool)| (bits >> var & 1 == 1) == positive;
               let score = |bits: u32| {
                   [&first, &second].map(|list| list.iter().filter(|&&l| is(bits, l)).count())
               };
               let allowed = |bits: &u32| clauses.iter().all(|c| c.iter().any(|&l| is(*bits, l)));
               let best = (0..1 << VARS).filter(allowed).map(score).max();
               let found = wishes.solve();
               prop_assert_eq!(found.is_ok(), best.is_some());
               if let Ok(found) = found {
                   let bits = (0..VARS).map(|v| u32::from(found.values[v as usize]) << v).sum::<u32>();
                   prop_assert!(allowed(&bits) && found.optimal);
                   prop_assert_eq!(Some(score(bits)), best);
               }
           }
       }
}
