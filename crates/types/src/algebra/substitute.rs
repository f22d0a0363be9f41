//! Substitution and inverse substitution.

use rustc_hash::FxHashMap;

use super::{Algebra, Atomicity, Question, Test};
use crate::locks::{Lock, Locks, Root};
use crate::substitution::Substitution;

impl Algebra {
    /// `θ(a)`, lifted where `θ` yields no well-formed lock.
    pub fn substitute(&mut self, a: Atomicity, theta: &Substitution) -> Atomicity {
        self.substitute_node(a, theta, &mut FxHashMap::default())
    }

    fn substitute_node(
        &mut self,
        a: Atomicity,
        theta: &Substitution,
        done: &mut FxHashMap<Atomicity, Atomicity>,
    ) -> Atomicity {
        let Some((test, high, low)) = self.branches(a) else {
            return a;
        };
        if let Some(&known) = done.get(&a) {
            return known;
        }
        let high = self.substitute_node(high, theta, done);
        let low = self.substitute_node(low, theta, done);
        let result = match theta.apply(&mut self.locks, test.lock) {
            Some(lock) => self.test(Test { lock, ..test }, high, low),
            None => self.join(high, low),
        };
        done.insert(a, result);
        result
    }

    /// `θ⁻¹(a)` lifted to names that `well_formed` accepts (section 7.2): the bound that an overriding method puts on the overridden one.
    ///
    /// Guaranteed: `a ⊑ θ(θ⁻¹(a))`.
    /// Where we differ: a lock without any preimage is lifted, while the paper takes the "not held" outcome, which is the same for all atomicities that do not grow with more locks held.
    /// And a ghost that `θ` maps to `none` or `always_held` bounds only those instances: `(x = always_held) ? a' : const`, which is how the types of section 7.4 come out of inference.
    pub fn inverse_substitute(
        &mut self,
        a: Atomicity,
        theta: &Substitution,
        mut well_formed: impl FnMut(&Locks, Lock) -> bool,
    ) -> Atomicity {
        let mut result = self.inverse_node(a, theta, &mut well_formed, &mut FxHashMap::default());
        for &(root, target) in theta.pairs() {
            let Root::Ghost(_) = root else { continue };
            let ghost = self.locks.root(root);
            if !well_formed(&self.locks, ghost) {
                continue;
            }
            result = match target {
                Some(Locks::NONE) => self.is_none(ghost, result, Atomicity::CONST),
                Some(Locks::ALWAYS_HELD) => self.is_always_held(ghost, result, Atomicity::CONST),
                _ => result,
            };
        }
        result
    }

    fn inverse_node(
        &mut self,
        a: Atomicity,
        theta: &Substitution,
        well_formed: &mut impl FnMut(&Locks, Lock) -> bool,
        done: &mut FxHashMap<Atomicity, Atomicity>,
    ) -> Atomicity {
        let Some((test, high, low)) = self.branches(a) else {
            return a;
        };
        if let Some(&known) = done.get(&a) {
            return known;
        }
        let high = self.inverse_node(high, theta, well_formed, done);
        let low = self.inverse_node(low, theta, well_formed, done);
        let mut names = theta.preimages(&mut self.locks, test.lock);
        names.retain(|&name| {
            well_formed(&self.locks, name)
                && (test.question == Question::Held || self.locks.as_ghost(name).is_some())
        });
        let result = if names.is_empty() {
            self.join(high, low)
        } else {
            names
                .into_iter()
                .rev()
                .fold(low, |low, lock| self.test(Test { lock, ..test }, high, low))
        };
        done.insert(a, result);
        result
    }
}
