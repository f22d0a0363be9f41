//! Theorems 1 to 3 of the paper, and what is left of them with left and right movers.

use crate::terms::{World, terms};
use proptest::prelude::*;
use untorn_types::algebra::Atomicity;
use untorn_types::basic::Basic;
use untorn_types::locks::{Locks, Root};
use untorn_types::substitution::Substitution;

/// The tables of section 4.1, read off the paper.
#[test]
fn the_papers_tables() {
    use Basic::{Atomic, Cmpd, Const, Error, Mover};
    let table = [
        [Const, Mover, Atomic, Cmpd, Error],
        [Mover, Mover, Atomic, Cmpd, Error],
        [Atomic, Atomic, Cmpd, Cmpd, Error],
        [Cmpd, Cmpd, Cmpd, Cmpd, Error],
        [Error, Error, Error, Error, Error],
    ];
    for (i, a) in Basic::PAPER.into_iter().enumerate() {
        assert_eq!(a.star(), [Const, Mover, Cmpd, Cmpd, Error][i]);
        for (j, b) in Basic::PAPER.into_iter().enumerate() {
            assert_eq!(a.then(b), table[i][j], "{a};{b}");
            assert_eq!(a.leq(b), i <= j);
        }
    }
}

/// The laws that survive left and right movers, on every combination of the seven points.
#[test]
fn the_laws_on_seven_points() {
    for a in Basic::ALL {
        assert_eq!(Basic::Const.then(a), a);
        assert_eq!(a.then(Basic::Const), a);
        assert_eq!(a.star().star(), a.star());
        let twice = Basic::Const.join(a).join(a.then(a));
        assert_eq!(
            a.star(),
            twice.join(a.then(a).then(a)),
            "closure is the join of repetitions"
        );
        for b in Basic::ALL {
            assert!(a.leq(a.join(b)) && b.leq(a.join(b)));
            assert!(a.leq(a.then(b)) && b.leq(a.then(b)), "{a};{b}");
            assert!(!a.leq(b) || a.star().leq(b.star()));
            assert!(a.star().join(b.star()).leq(a.join(b).star()));
            for c in Basic::ALL {
                assert_eq!(a.then(b).then(c), a.then(b.then(c)), "({a};{b});{c}");
                assert_eq!(
                    a.then(b.join(c)),
                    a.then(b).join(a.then(c)),
                    "{a};({b}|{c})"
                );
                assert_eq!(
                    b.join(c).then(a),
                    b.then(a).join(c.then(a)),
                    "({b}|{c});{a}"
                );
                assert!(!(a.leq(c) && b.leq(c)) || a.join(b).leq(c), "join is least");
                assert!(!a.leq(b) || a.then(c).leq(b.then(c)) && c.then(a).leq(c.then(b)));
            }
        }
    }
}

/// Closure distributes over join on the paper's points, and with left and right movers it does not.
#[test]
fn closure_over_join() {
    for a in Basic::PAPER {
        for b in Basic::PAPER {
            assert_eq!(a.join(b).star(), a.star().join(b.star()));
        }
    }
    let (left, right) = (Basic::Left, Basic::Right);
    assert_eq!(left.join(right).star(), Basic::Cmpd);
    assert_eq!(left.star().join(right.star()), Basic::Atomic);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Theorem 1, on diagrams and against the paper's term-wise definitions, for seven points and all tests.
    #[test]
    fn operations_are_pointwise(a in terms(&Basic::ALL, true), b in terms(&Basic::ALL, true)) {
        let mut world = World::new();
        let (x, y) = (world.build(&a), world.build(&b));
        let seq = world.algebra.seq(x, y);
        let join = world.algebra.join(x, y);
        let star = world.algebra.star(x);
        let asserted = world.algebra.asserted(x);
        for at in world.situations() {
            let (u, v) = (a.eval(&at), b.eval(&at));
            prop_assert_eq!(world.algebra.eval(x, &at), u);
            prop_assert_eq!(world.algebra.eval(seq, &at), u.then(v));
            prop_assert_eq!(world.algebra.eval(join, &at), u.join(v));
            prop_assert_eq!(world.algebra.eval(star, &at), u.star());
            prop_assert_eq!(world.algebra.eval(asserted, &at), u.asserted());
        }
        let terms = [
            (a.zip(&b, &Basic::then), seq),
            (a.zip(&b, &Basic::join), join),
            (a.map(&Basic::star), star),
            (a.map(&Basic::asserted), asserted),
        ];
        for (term, diagram) in terms {
            prop_assert_eq!(world.build(&term), diagram);
        }
    }

    /// Theorem 2: the order is pointwise, it is the paper's syntactic relation, and equivalence is identity of diagrams.
    #[test]
    fn the_order_is_pointwise(a in terms(&Basic::PAPER, false), b in terms(&Basic::PAPER, false)) {
        let mut world = World::new();
        let (x, y) = (world.build(&a), world.build(&b));
        let pointwise = world.situations().iter().all(|at| a.eval(at).leq(b.eval(at)));
        prop_assert_eq!(world.algebra.leq(x, y), pointwise);
        prop_assert_eq!(a.leq(&b, &[], &[]), pointwise);
        let equal = world.situations().iter().all(|at| a.eval(at) == b.eval(at));
        prop_assert_eq!(x == y, equal);
        prop_assert_eq!(world.algebra.counterexample(x, y).is_none(), pointwise);
        if let Some(at) = world.algebra.counterexample(x, y) {
            prop_assert!(!a.eval(&at).leq(b.eval(&at)));
        }
    }

    /// The same with equalities and all seven points: what cannot happen makes no difference.
    #[test]
    fn diagrams_are_canonical(a in terms(&Basic::ALL, true), b in terms(&Basic::ALL, true)) {
        let mut world = World::new();
        let (x, y) = (world.build(&a), world.build(&b));
        let situations = world.situations();
        prop_assert_eq!(x == y, situations.iter().all(|at| a.eval(at) == b.eval(at)));
        let pointwise = situations.iter().all(|at| a.eval(at).leq(b.eval(at)));
        prop_assert_eq!(world.algebra.leq(x, y), pointwise);
    }

    /// Theorem 3 on the paper's points.
    #[test]
    fn the_laws_hold_for_conditional_atomicities(
        a in terms(&Basic::PAPER, true), b in terms(&Basic::PAPER, true), c in terms(&Basic::PAPER, true)
    ) {
        let mut world = World::new();
        let [a, b, c] = [a, b, c].map(|t| world.build(&t));
        let alg = &mut world.algebra;
        let star = alg.star(a);
        prop_assert!(alg.leq(a, star));
        prop_assert_eq!(alg.star(star), star);
        let ab = alg.seq(a, b);
        prop_assert!(alg.leq(a, ab) && alg.leq(b, ab));
        let bc = alg.seq(b, c);
        prop_assert_eq!(alg.seq(ab, c), alg.seq(a, bc));
        prop_assert_eq!(alg.seq(Atomicity::CONST, a), a);
        prop_assert_eq!(alg.seq(a, Atomicity::CONST), a);
        let b_or_c = alg.join(b, c);
        let ac = alg.seq(a, c);
        let both = alg.join(ab, ac);
        prop_assert_eq!(alg.seq(a, b_or_c), both);
        let a_or_b = alg.join(a, b);
        let both = alg.join(ac, bc);
        prop_assert_eq!(alg.seq(a_or_b, c), both);
        let (sa, sb) = (alg.star(a), alg.star(b));
        let both = alg.join(sa, sb);
        prop_assert_eq!(alg.star(a_or_b), both);
    }

    /// `S(l, a)` is the paper's, and simplification (Figure 12) changes nothing that a diagram shows.
    #[test]
    fn sync_and_simplification(a in terms(&Basic::PAPER, false), which in 0usize..5) {
        let mut world = World::new();
        let lock = world.locks[which];
        let x = world.build(&a);
        let diagram = world.algebra.sync(lock, x);
        prop_assert_eq!(world.build(&a.sync(lock)), diagram);
        prop_assert_eq!(world.build(&a.simplify(&[], &[])), x);
    }

    /// Lifting is the least atomicity above that does not mention the lock.
    #[test]
    fn lifting_joins_the_outcomes(a in terms(&Basic::ALL, true), which in 0usize..5) {
        let mut world = World::new();
        let lock = world.locks[which];
        let x = world.build(&a);
        let lifted = world.algebra.lift(x, |l| l != lock);
        prop_assert!(!world.algebra.support(lifted).contains(&lock));
        prop_assert!(world.algebra.leq(x, lifted));
        let situations = world.situations();
        for at in &situations {
            let others = |l: &&_| **l != lock;
            let same = |other: &untorn_types::algebra::Valuation| {
                world.locks.iter().filter(others).all(|&l| {
                    use untorn_types::algebra::{Question, Test};
                    [Question::Held, Question::IsNone, Question::IsAlwaysHeld]
                        .into_iter()
                        .all(|question| {
                            let test = Test { lock: l, question };
                            at.outcome(test) == other.outcome(test)
                        })
                })
            };
            let joined = situations
                .iter()
                .filter(|other| same(other))
                .fold(Basic::Const, |b, other| b.join(a.eval(other)));
            prop_assert_eq!(world.algebra.eval(lifted, at), joined);
        }
    }

    /// Substitution means evaluation in the situation that the substituted names see.
    #[test]
    fn substitution_is_pointwise(a in terms(&Basic::ALL, true), x in 0usize..8, this in 0usize..6) {
        let mut world = World::new();
        let term = world.build(&a);
        let targets = [world.locks.clone(), vec![Locks::NONE, Locks::ALWAYS_HELD, Locks::TLL]].concat();
        let (x_to, this_to) = (targets[x], world.locks.get(this).copied());
        let Root::Ghost(ghost) = world.algebra.locks.root_of(world.ghosts[0]) else { unreachable!() };
        let theta = Substitution::identity().with(Root::Ghost(ghost), x_to).with(Root::This, this_to);
        let result = world.algebra.substitute(term, &theta);
        if this_to.is_none() {
            let lifted = world.algebra.lift(term, |l| l != Locks::THIS);
            prop_assert_eq!(world.algebra.substitute(lifted, &theta), result);
            return Ok(());
        }
        for at in world.situations() {
            use untorn_types::algebra::{Question, Test, Valuation};
            // What each name is under the substitution, seen from here.
            let mut seen = Valuation::default();
            let mut held = Vec::new();
            for &name in &world.locks {
                let to = theta.apply(&mut world.algebra.locks, name).unwrap();
                let ghost = world.ghosts.contains(&name);
                let is = |question| at.outcome(Test { lock: to, question });
                let may_be_special = world.ghosts.contains(&to) || to == Locks::NONE || to == Locks::ALWAYS_HELD;
                if ghost && may_be_special && is(Question::IsNone) { seen.set_none(name); }
                if ghost && may_be_special && is(Question::IsAlwaysHeld) { seen.set_always_held(name); }
                if is(Question::Held) { held.push(name); }
            }
            let mut all = Valuation::holding(held);
            for &name in &world.ghosts {
                if seen.outcome(Test { lock: name, question: Question::IsNone }) { all.set_none(name); }
                if seen.outcome(Test { lock: name, question: Question::IsAlwaysHeld }) { all.set_always_held(name); }
            }
            prop_assert_eq!(world.algebra.eval(result, &at), a.eval(&all));
        }
    }

    /// The bound that an overrider gives is enough: `a ⊑ θ(θ⁻¹(a))`.
    #[test]
    fn inverse_substitution_bounds(a in terms(&Basic::ALL, true), x in 0usize..8, hide in 0usize..6) {
        let mut world = World::new();
        // The subclass does not know the superclass's ghost.
        let own = world.ghosts[0];
        let term = world.build(&a);
        let term = world.algebra.lift(term, |l| l != own);
        let targets = [world.locks.clone(), vec![Locks::NONE, Locks::ALWAYS_HELD, Locks::TLL]].concat();
        let Root::Ghost(ghost) = world.algebra.locks.root_of(own) else { unreachable!() };
        prop_assume!(targets[x] != own);
        let theta = Substitution::identity().with(Root::Ghost(ghost), targets[x]);
        let hidden = world.locks.get(hide).copied();
        let inverse = world.algebra.inverse_substitute(term, &theta, |_, l| Some(l) != hidden);
        if let Some(hidden) = hidden {
            prop_assert!(!world.algebra.support(inverse).contains(&hidden));
        }
        let back = world.algebra.substitute(inverse, &theta);
        prop_assert!(world.algebra.leq(term, back));
    }
}

/// A chain of conditional atomicities over different locks stays small: the reason for diagrams (section 7.1).
#[test]
fn long_compositions_stay_small() {
    let mut locks = Locks::default();
    let params: Vec<_> = (0..200).map(|i| locks.root(Root::Param(i))).collect();
    let mut algebra = untorn_types::algebra::Algebra::new(locks);
    let mut path = Atomicity::CONST;
    for &lock in params.iter().chain(&params) {
        let call = algebra.held(lock, Atomicity::MOVER, Atomicity::ATOMIC);
        path = algebra.seq(path, call);
    }
    assert_eq!(algebra.support(path).len(), 200);
    assert!(algebra.nodes() < 200_000, "{} nodes", algebra.nodes());
    let all = untorn_types::algebra::Valuation::holding(params);
    assert_eq!(algebra.eval(path, &all), Basic::Mover);
}
