//! Inference beyond the paper's examples: recursion, bounds, overriding, locks that methods leave held, and cost.

use std::time::Instant;

use crate::builder::{Builder, Code, ON_THIS, call, does, read, sync, this_is, write};
use untorn_types::algebra::Atomicity;
use untorn_types::guards::Reason;
use untorn_types::holding;
use untorn_types::infer::Violation;
use untorn_types::input::{Actuals, Arg, Effect, MethodId, NodeId, Overrides, VisibleFields};
use untorn_types::locks::{Locks, Root};
use untorn_types::notation::print_atomicity;
use untorn_types::path::{self, Fault, Meaning};

const THIS: untorn_types::locks::Lock = Locks::THIS;

fn acquire(lock: untorn_types::locks::Lock) -> Code {
    Code::Step(Effect::Acquire {
        lock: Some(lock),
        protector: None,
    })
}

fn release(lock: untorn_types::locks::Lock) -> Code {
    Code::Step(Effect::Release {
        lock: Some(lock),
        protector: None,
    })
}

/// A list that walks itself: each level names its tail by a longer path, until the bound ends that.
#[test]
fn recursion_over_ever_longer_paths_ends() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let num = b.field(class, &[THIS]);
    let next = b.path(THIS, &["next"]);
    let me = MethodId(0);
    let body = sync(THIS, vec![read(num, &ON_THIS)]);
    let walk = vec![Code::If(vec![call(me, &this_is(next))], vec![])];
    b.method(&[], Some([body, walk].concat()));
    let mut typed = b.infer();
    // With all names held one still walks on to a lock that has no name.
    assert_eq!(typed.type_of(me), "cmpd");
}

/// Two methods that call each other have the least solution, not the first guess.
#[test]
fn mutual_recursion_reaches_the_fixpoint() {
    let mut b = Builder::default();
    let (even, odd) = (MethodId(0), MethodId(1));
    let step = |other| {
        Some(vec![Code::If(
            vec![does(Atomicity::MOVER), call(other, &ON_THIS)],
            vec![],
        )])
    };
    b.method(&[], step(odd));
    b.method(&[], step(even));
    let atomic = b.method(
        &[],
        Some(vec![call(even, &ON_THIS), does(Atomicity::ATOMIC)]),
    );
    let mut typed = b.infer();
    assert_eq!(typed.type_of(even), "mover");
    assert_eq!(typed.type_of(odd), "mover");
    assert_eq!(typed.type_of(atomic), "atomic");
}

/// A declaration that fails is reported, and its callers are judged by what the method really is.
#[test]
fn no_proof_rests_on_a_false_declaration() {
    let mut b = Builder::default();
    let liar = b.method(
        &[],
        Some(vec![does(Atomicity::ATOMIC), does(Atomicity::ATOMIC)]),
    );
    b.program.methods[liar.index()].declared = Some(Atomicity::MOVER);
    let caller = b.method(&[], Some(vec![call(liar, &ON_THIS)]));
    let mut typed = b.infer();
    assert_eq!(typed.inferred.violations, [Violation::Body(liar)]);
    assert_eq!(typed.type_of(caller), "cmpd");
}

/// An overrider that locks a field of its own bounds the overridden method, which cannot name that lock.
#[test]
fn an_override_is_seen_through_the_supertype() {
    let mut b = Builder::default();
    let own = b.path(THIS, &["own"]);
    let upper = b.method(&[], None);
    b.program.methods[upper.index()].scope.fields = VisibleFields::Only(Vec::new());
    let lower = b.method(&[], Some(sync(own, vec![does(Atomicity::MOVER)])));
    let overrides = Overrides {
        method: upper,
        ghosts: Actuals::default(),
    };
    b.program.methods[lower.index()].overrides = vec![overrides];
    let mut typed = b.infer();
    assert_eq!(typed.type_of(lower), "this.own ? mover : atomic");
    assert_eq!(typed.type_of(upper), "atomic");
}

/// Explicit locks: a method may return with a lock held, and another may give it back.
#[test]
fn locks_cross_method_boundaries() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let lock = b.path(THIS, &["lock"]);
    let value = b.field(class, &[lock]);
    let enter = b.method(&[], Some(vec![acquire(lock)]));
    let leave = b.method(&[], Some(vec![release(lock)]));
    let body = vec![call(enter, &ON_THIS), write(value, &ON_THIS), release(lock)];
    let update = b.method(&[], Some(body));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(value), "guarded_by this.lock");
    assert_eq!(typed.type_of(enter), "this.lock ? const : right");
    assert_eq!(typed.type_of(leave), "left");
    assert_eq!(typed.type_of(update), "this.lock ? mover : atomic");
}

/// A callee that gives a lock back leaves the caller without it.
#[test]
fn a_lock_released_by_a_callee_is_not_held() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let lock = b.path(THIS, &["lock"]);
    let value = b.field(class, &[lock]);
    let leave = b.method(&[], Some(vec![release(lock)]));
    // The supertype's method says nothing of the release that its overrider does.
    let upper = b.method(&[], Some(vec![]));
    let overrides = Overrides {
        method: upper,
        ghosts: Actuals::default(),
    };
    b.program.methods[leave.index()].overrides = vec![overrides];
    let body = vec![acquire(lock), call(upper, &ON_THIS), write(value, &ON_THIS)];
    let bad = b.method(&[], Some(body));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(value), "no_guard");
    let broken = &typed.guarded.broken[0];
    let expected = Reason::Access {
        method: bad,
        node: NodeId(3),
        through: Vec::new(),
    };
    assert_eq!(broken.reason, expected);
    assert_eq!(typed.type_of(bad), "cmpd");
}

/// A lock that is held on one branch only is not held after it, and nested acquires count.
#[test]
fn branches_and_reentrance() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let value = b.field(class, &[]);
    b.program.fields[value.index()].fixed = Some(untorn_types::input::Guard::GuardedBy(THIS));
    let inner = sync(THIS, vec![write(value, &ON_THIS)]);
    let nested = [inner, vec![write(value, &ON_THIS)]].concat();
    let nested = b.method(&[], Some(sync(THIS, nested)));
    let body = vec![
        Code::If(vec![acquire(THIS)], vec![]),
        write(value, &ON_THIS),
    ];
    let maybe = b.method(&[], Some(body));
    let mut typed = b.infer();
    assert_eq!(typed.type_of(nested), "this ? mover : atomic");
    assert_eq!(typed.type_of(maybe), "error");
    let fault = typed.inferred.explain(
        &mut typed.algebra,
        &typed.program,
        &typed.guarded.discipline,
        maybe,
        Atomicity::ATOMIC,
    );
    assert!(
        matches!(
            fault,
            Some(Fault::Undisciplined {
                node: NodeId(3),
                ..
            })
        ),
        "{fault:?}"
    );
}

/// A region that is only asked about is judged by itself and leaves the method's type alone.
#[test]
fn regions_have_a_type_of_their_own() {
    let mut b = Builder::default();
    let lock = b.param(0);
    let twice = [sync(lock, vec![]), sync(lock, vec![])].concat();
    let body = [
        vec![does(Atomicity::ATOMIC)],
        vec![Code::Region(false, twice)],
    ]
    .concat();
    let method = b.method(&[], Some(body));
    let mut typed = b.infer();
    assert_eq!(typed.type_of(method), "p ? atomic : cmpd");
    let discipline = typed.guarded.discipline.clone();
    let paths = typed
        .inferred
        .paths(&mut typed.algebra, &typed.program, &discipline, method);
    let regions = paths.map(|paths| paths.regions).unwrap_or_default();
    let types: Vec<String> = regions
        .into_values()
        .map(|a| print_atomicity(&mut typed.algebra, a, &["p".to_owned()]))
        .collect();
    assert_eq!(types, ["p ? const : cmpd"]);
}

/// Very many locks in one body: the type is cut back to what fits, never below the truth, and in time.
#[test]
fn a_body_with_very_many_locks_is_tamed() {
    let mut b = Builder::default();
    // Each lock is tested at both ends, so that the diagram would have to remember all of them.
    let outcomes = [
        Atomicity::CONST,
        Atomicity::MOVER,
        Atomicity::RIGHT,
        Atomicity::LEFT,
    ];
    let mut body = Vec::new();
    for round in 0..3u32 {
        for index in 0..40u32 {
            let lock = b.local(index * 7 % 40);
            let outcome = outcomes[(index + round) as usize % 4];
            let step = b
                .algebra
                .held(lock, outcome, outcomes[(index * round) as usize % 4]);
            body.push(does(step));
        }
    }
    let method = b.method(&[], Some(body));
    let start = Instant::now();
    let mut typed = b.infer();
    assert_eq!(typed.type_of(method), "cmpd");
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// A private method relies on its callers; the caller that lets it down is named.
#[test]
fn requirements_of_inner_methods() {
    for faithful in [true, false] {
        let mut b = Builder::default();
        let class = b.class(&[], false);
        let value = b.field(class, &[THIS]);
        let helper = b.inner_method(&[], &[THIS], vec![write(value, &ON_THIS)]);
        let middle = b.inner_method(&[], &[THIS], vec![call(helper, &ON_THIS)]);
        let calls = vec![call(middle, &ON_THIS)];
        let good = b.method(&[], Some(sync(THIS, calls.clone())));
        let other = b.method(&[], Some(if faithful { sync(THIS, calls) } else { calls }));
        let mut typed = b.infer();
        if faithful {
            assert_eq!(typed.guard_of(value), "guarded_by this");
            assert_eq!(typed.guarded.holds[helper.index()], [THIS]);
            assert_eq!(typed.guarded.holds[middle.index()], [THIS]);
            assert_eq!(typed.type_of(helper), "this ? mover : error");
            assert_eq!(typed.type_of(good), "this ? mover : atomic");
        } else {
            assert_eq!(typed.guard_of(value), "no_guard");
            let through = vec![(middle, NodeId(1)), (other, NodeId(1))];
            let expected = Reason::Access {
                method: helper,
                node: NodeId(1),
                through,
            };
            assert_eq!(typed.guarded.broken[0].reason, expected);
            assert_eq!(typed.type_of(other), "atomic");
        }
    }
}

/// Many classes that call each other in layers: every body is solved once, and twice the methods cost about twice the time.
#[test]
fn cost_grows_with_the_program() {
    let run = |classes: u32| {
        let mut b = Builder::default();
        let p = b.param(0);
        for index in 0..classes {
            let class = b.class(&[], false);
            let fields: Vec<_> = (0..4).map(|_| b.field(class, &[THIS])).collect();
            for (at, &field) in fields.iter().enumerate() {
                let mut body = vec![read(field, &ON_THIS), write(field, &ON_THIS)];
                if index > 0 {
                    // Methods of class `index` are numbered `4 * index` and up.
                    let callee = MethodId(4 * (index - 1) + at as u32);
                    let args = [
                        (Root::This, Arg::Lock(p)),
                        (Root::Param(0), Arg::Lock(THIS)),
                    ];
                    body.push(call(callee, &args));
                }
                b.method(&[], Some(sync(THIS, body)));
            }
        }
        let start = Instant::now();
        let typed = b.infer();
        let elapsed = start.elapsed();
        assert_eq!(typed.inferred.solved, 4 * classes as usize);
        assert_eq!(typed.guarded.broken, []);
        elapsed
    };
    run(200);
    let (small, large) = (run(500), run(4000));
    println!("2000 methods in {small:?}, 16000 in {large:?}");
    // Linear would be 8; the bound leaves room for a busy machine and still excludes the square.
    assert!(large < small * 32, "{small:?} and then {large:?}");
}

/// The worklist finds what plain iteration over all methods finds: the least solution.
#[test]
fn components_give_the_least_solution() {
    for seed in 0..200u64 {
        let mut dice = crate::guards::Dice::new(seed);
        let mut b = Builder::default();
        let (p, next) = (b.param(0), b.path(THIS, &["next"]));
        let locks = [THIS, p, next];
        let count = 2 + dice.roll(5) as u32;
        for _ in 0..count {
            let mut body = Vec::new();
            for _ in 0..=dice.roll(3) {
                let basic = dice.pick(&[
                    Atomicity::MOVER,
                    Atomicity::CONST,
                    Atomicity::MOVER,
                    Atomicity::ATOMIC,
                ]);
                let args = [
                    (Root::This, Arg::Lock(dice.pick(&locks))),
                    (Root::Param(0), Arg::Lock(dice.pick(&locks))),
                ];
                let code = match dice.roll(3) {
                    0 => does(basic),
                    _ => call(MethodId(dice.roll(count as usize) as u32), &args),
                };
                let code = if dice.chance(50) {
                    sync(dice.pick(&locks), vec![code])
                } else {
                    vec![code]
                };
                body.extend(if dice.chance(30) {
                    vec![Code::If(code, vec![])]
                } else {
                    code
                });
            }
            b.method(&[], Some(body));
        }
        for by in 1..count {
            if dice.chance(30) {
                let overrides = Overrides {
                    method: MethodId(by - 1),
                    ghosts: Actuals::default(),
                };
                b.program.methods[by as usize].overrides.push(overrides);
            }
        }
        let mut typed = b.infer();
        let mut naive = vec![Atomicity::CONST; count as usize];
        loop {
            let previous = naive.clone();
            for (index, method) in typed.program.methods.iter().enumerate() {
                let graph = method.body.as_ref().expect("all have bodies");
                let (holdings, _) = holding::holdings(&mut typed.algebra.locks, graph, &[], &[]);
                let meaning = Meaning {
                    fields: &[],
                    discipline: &typed.guarded.discipline,
                    methods: &naive,
                    nets: &[],
                };
                let mut whole = path::solve(&mut typed.algebra, graph, &holdings, &meaning).whole;
                for (by, other) in typed.program.methods.iter().enumerate() {
                    if other.overrides.iter().any(|o| o.method.index() == index) {
                        whole = typed.algebra.join(whole, naive[by]);
                    }
                }
                naive[index] = typed.algebra.join(naive[index], whole);
            }
            if naive == previous {
                break;
            }
        }
        assert_eq!(typed.inferred.methods, naive, "seed {seed}");
    }
}
