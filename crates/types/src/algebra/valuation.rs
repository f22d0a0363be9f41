//! Situations: which locks are held, and what the ghosts stand for.

use super::{Algebra, Atomicity, Question, Test};
use crate::basic::Basic;
use crate::locks::{Lock, Locks};

/// A situation; what is not listed is not held and stands for an ordinary lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Valuation {
    held: Vec<Lock>,
    none: Vec<Lock>,
    always: Vec<Lock>,
}

impl Valuation {
    /// Exactly these locks are held.
    pub fn holding(locks: impl IntoIterator<Item = Lock>) -> Valuation {
        Valuation {
            held: locks.into_iter().collect(),
            ..Valuation::default()
        }
    }

    /// The ghost stands for `none`.
    pub fn set_none(&mut self, ghost: Lock) {
        self.none.push(ghost);
    }

    /// The ghost stands for `always_held`.
    pub fn set_always_held(&mut self, ghost: Lock) {
        self.always.push(ghost);
    }

    /// The locks that are held as far as the situation lists them.
    pub fn held(&self) -> &[Lock] {
        &self.held
    }

    /// How the test comes out.
    pub fn outcome(&self, test: Test) -> bool {
        let Test { lock, question } = test;
        match question {
            Question::Held => {
                lock == Locks::ALWAYS_HELD
                    || self.always.contains(&lock)
                    || (self.held.contains(&lock)
                        && lock != Locks::NONE
                        && !self.none.contains(&lock))
            }
            Question::IsAlwaysHeld => lock == Locks::ALWAYS_HELD || self.always.contains(&lock),
            Question::IsNone => lock == Locks::NONE || self.none.contains(&lock),
        }
    }

    fn record(&mut self, test: Test, outcome: bool) {
        if outcome {
            match test.question {
                Question::Held => self.held.push(test.lock),
                Question::IsAlwaysHeld => self.always.push(test.lock),
                Question::IsNone => self.none.push(test.lock),
            }
        }
    }
}

impl Algebra {
    /// The meaning function of section 4.2: the basic atomicity in one situation.
    pub fn eval(&self, mut a: Atomicity, at: &Valuation) -> Basic {
        while let Some((test, high, low)) = self.branches(a) {
            a = if at.outcome(test) { high } else { low };
        }
        a.basic().unwrap_or(Basic::Error)
    }

    /// A situation in which `a` is not below the bound, the one with the fewest locks held that the order of tests finds first.
    pub fn counterexample(&mut self, a: Atomicity, bound: Atomicity) -> Option<Valuation> {
        let (mut a, mut bound) = (a, bound);
        if self.leq(a, bound) {
            return None;
        }
        let mut at = Valuation::default();
        loop {
            let tests = [a, bound].map(|x| self.branches(x).map(|(test, ..)| test));
            let Some(test) = tests.into_iter().flatten().min() else {
                return Some(at);
            };
            let low = (self.assume(a, test, false), self.assume(bound, test, false));
            let outcome = self.leq(low.0, low.1);
            (a, bound) = if outcome {
                (self.assume(a, test, true), self.assume(bound, test, true))
            } else {
                low
            };
            at.record(test, outcome);
        }
    }
}
