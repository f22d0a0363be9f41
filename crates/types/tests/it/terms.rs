//! Atomicities as the paper's plain terms, with its definitions taken literally: what the diagrams are measured against.

use proptest::prelude::*;
use untorn_types::algebra::{Algebra, Atomicity, Question, Test, Valuation};
use untorn_types::basic::Basic;
use untorn_types::locks::{Lock, Locks, Root};

/// `b | l ? a1 : a2`, with the equalities of sections 7.3 and 7.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Basic(Basic),
    Cond(Test, Box<Term>, Box<Term>),
}

/// A small world: a receiver, two paths and two ghosts.
pub struct World {
    pub algebra: Algebra,
    pub locks: Vec<Lock>,
    pub ghosts: Vec<Lock>,
}

impl World {
    pub fn new() -> World {
        let mut locks = Locks::default();
        let param = locks.root(Root::Param(0));
        let field = locks.field_name("C", "lock");
        let path = locks.field(param, field).expect("a short path");
        let ghosts: Vec<Lock> = ["x", "y"]
            .map(|name| {
                let ghost = locks.ghost(name);
                locks.root(Root::Ghost(ghost))
            })
            .to_vec();
        let all = [vec![Locks::THIS, param, path], ghosts.clone()].concat();
        World {
            algebra: Algebra::new(locks),
            locks: all,
            ghosts,
        }
    }

    pub fn build(&mut self, term: &Term) -> Atomicity {
        match term {
            Term::Basic(b) => (*b).into(),
            Term::Cond(test, high, low) => {
                let high = self.build(high);
                let low = self.build(low);
                self.algebra.test(*test, high, low)
            }
        }
    }

    /// All situations: each lock held or not, each ghost also `none` or `always_held`.
    pub fn situations(&self) -> Vec<Valuation> {
        let mut all = Vec::new();
        for held in 0..1u32 << self.locks.len() {
            for special in 0..9u32 {
                let mut at = Valuation::holding(
                    self.locks
                        .iter()
                        .enumerate()
                        .filter(|(i, _)| held >> i & 1 == 1)
                        .map(|(_, &l)| l),
                );
                for (ghost, choice) in self.ghosts.iter().zip([special % 3, special / 3]) {
                    match choice {
                        1 => at.set_none(*ghost),
                        2 => at.set_always_held(*ghost),
                        _ => {}
                    }
                }
                all.push(at);
            }
        }
        all
    }
}

impl Term {
    /// The meaning function of section 4.2.
    pub fn eval(&self, at: &Valuation) -> Basic {
        match self {
            Term::Basic(b) => *b,
            Term::Cond(test, high, low) => {
                if at.outcome(*test) {
                    high.eval(at)
                } else {
                    low.eval(at)
                }
            }
        }
    }

    pub fn map(&self, f: &impl Fn(Basic) -> Basic) -> Term {
        match self {
            Term::Basic(b) => Term::Basic(f(*b)),
            Term::Cond(test, high, low) => {
                Term::Cond(*test, Box::new(high.map(f)), Box::new(low.map(f)))
            }
        }
    }

    /// The paper's extension of a basic operation to conditional atomicities, left argument first.
    pub fn zip(&self, other: &Term, f: &impl Fn(Basic, Basic) -> Basic) -> Term {
        match (self, other) {
            (Term::Cond(test, high, low), _) => Term::Cond(
                *test,
                Box::new(high.zip(other, f)),
                Box::new(low.zip(other, f)),
            ),
            (_, Term::Cond(test, high, low)) => Term::Cond(
                *test,
                Box::new(self.zip(high, f)),
                Box::new(self.zip(low, f)),
            ),
            (Term::Basic(a), Term::Basic(b)) => Term::Basic(f(*a, *b)),
        }
    }

    /// `S(l, a)` by its seven equations.
    pub fn sync(&self, lock: Lock) -> Term {
        match self {
            Term::Basic(b @ (Basic::Const | Basic::Mover)) => Term::Cond(
                Test::held(lock),
                Box::new(Term::Basic(*b)),
                Box::new(Term::Basic(Basic::Atomic)),
            ),
            Term::Basic(b) => Term::Basic(*b),
            Term::Cond(test, high, _) if *test == Test::held(lock) => high.sync(lock),
            Term::Cond(test, high, low) => {
                Term::Cond(*test, Box::new(high.sync(lock)), Box::new(low.sync(lock)))
            }
        }
    }

    /// The relation `⊑` with held and not held locks, rule by rule.
    pub fn leq(&self, other: &Term, held: &[Test], not: &[Test]) -> bool {
        let with = |set: &[Test], test: Test| [set, &[test]].concat();
        match (self, other) {
            (Term::Basic(a), Term::Basic(b)) => a.leq(*b),
            (Term::Cond(test, high, low), _) => {
                (not.contains(test) || high.leq(other, &with(held, *test), not))
                    && (held.contains(test) || low.leq(other, held, &with(not, *test)))
            }
            (_, Term::Cond(test, high, low)) => {
                (not.contains(test) || self.leq(high, &with(held, *test), not))
                    && (held.contains(test) || self.leq(low, held, &with(not, *test)))
            }
        }
    }

    /// The simplification rules of Figure 12, the first that applies.
    pub fn simplify(&self, held: &[Test], not: &[Test]) -> Term {
        let Term::Cond(test, high, low) = self else {
            return self.clone();
        };
        if held.contains(test) {
            return high.simplify(held, not);
        }
        if not.contains(test) {
            return low.simplify(held, not);
        }
        let high = high.simplify(&[held, &[*test]].concat(), not);
        let low = low.simplify(held, &[not, &[*test]].concat());
        if high == low {
            high
        } else {
            Term::Cond(*test, Box::new(high), Box::new(low))
        }
    }
}

/// Random terms; `equalities` adds tests of ghosts against `none` and `always_held`.
pub fn terms(points: &'static [Basic], equalities: bool) -> impl Strategy<Value = Term> {
    let world = World::new();
    let mut tests: Vec<Test> = world.locks.iter().map(|&l| Test::held(l)).collect();
    if equalities {
        for &lock in &world.ghosts {
            tests.push(Test {
                lock,
                question: Question::IsNone,
            });
            tests.push(Test {
                lock,
                question: Question::IsAlwaysHeld,
            });
        }
    }
    let leaf = proptest::sample::select(points).prop_map(Term::Basic);
    leaf.prop_recursive(5, 32, 2, move |inner| {
        (
            proptest::sample::select(tests.clone()),
            inner.clone(),
            inner,
        )
            .prop_map(|(test, high, low)| Term::Cond(test, Box::new(high), Box::new(low)))
    })
}
