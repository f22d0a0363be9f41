//! Both phases together: what guard inference promises, the types confirm, and verdicts follow from both.

use crate::builder::{Builder, Code, ON_THIS, call, does, read, sync, write};
use crate::guards::Dice;
use untorn_types::algebra::Atomicity;
use untorn_types::analysis::{Analysis, Verdict, analyze};
use untorn_types::infer::{Limits, Violation};
use untorn_types::input::{Actuals, Allocation, Arg, Guard, MethodId, NodeId, RegionId};
use untorn_types::locks::{Locks, Root};
use untorn_types::path::Fault;

const THIS: untorn_types::locks::Lock = Locks::THIS;

fn analyzed(b: &mut Builder) -> Analysis {
    analyze(&mut b.algebra, &b.program, &[], Limits::default()).expect("nothing contradictory")
}

fn random_code(
    dice: &mut Dice,
    ghost: untorn_types::locks::Ghost,
    locks: &[untorn_types::locks::Lock],
    depth: usize,
) -> Vec<Code> {
    let mut code = Vec::new();
    for _ in 0..=dice.roll(2) {
        let this = Arg::Lock(dice.pick(&locks[..2]));
        let arg = if dice.chance(60) {
            Arg::Lock(dice.pick(locks))
        } else {
            Arg::Slot(untorn_types::input::SlotId(dice.roll(2) as u32))
        };
        let actuals = [
            (Root::This, this),
            (Root::Param(0), Arg::Lock(dice.pick(&locks[..2]))),
            (Root::Ghost(ghost), arg),
        ];
        let field = untorn_types::input::FieldId(dice.roll(4) as u32);
        let step = match dice.roll(6) {
            0 | 1 => read(field, &actuals),
            2 | 3 => write(field, &actuals),
            _ => call(MethodId(dice.roll(4) as u32), &actuals),
        };
        let inner = if depth > 0 && dice.chance(50) {
            random_code(dice, ghost, locks, depth - 1)
        } else {
            vec![step]
        };
        code.extend(match dice.roll(6) {
            0..=2 => sync(dice.pick(locks), inner),
            3 => vec![Code::If(inner, vec![])],
            4 => vec![Code::While(inner)],
            _ => inner,
        });
    }
    code
}

/// The guards that were chosen hold in the types too: no method that anyone may call has an error left.
#[test]
fn the_types_confirm_the_guards() {
    let (mut guarded, mut unguarded, mut demoted) = (0, 0, 0);
    for seed in 0..400u64 {
        let mut dice = Dice::new(seed);
        let mut b = Builder::default();
        let (ghost, x) = b.ghost("x");
        let p = b.param(0);
        let name = b.algebra.locks.class("K");
        let k = b.algebra.locks.root(Root::Class(name));
        let locks = [THIS, p, x, k];
        let class = b.class(&[ghost], false);
        for _ in 0..4 {
            let field = b.field(class, &[THIS, x, k]);
            let fixed = match dice.roll(10) {
                0 => Some(Guard::Final),
                1 => Some(Guard::GuardedBy(dice.pick(&[THIS, x, k]))),
                2 => Some(Guard::WriteGuardedBy(dice.pick(&[THIS, x, k]))),
                _ => None,
            };
            b.program.fields[field.index()].fixed = fixed;
        }
        for _ in 0..2 {
            let slot = Arg::Slot(b.slot(&[THIS, p, k, Locks::ALWAYS_HELD, Locks::TLL], false));
            let actuals = Actuals(vec![(Root::Ghost(ghost), slot)]);
            b.program.allocations.push(Allocation {
                classes: vec![(class, actuals)],
            });
        }
        for _ in 0..4 {
            let code = random_code(&mut dice, ghost, &locks, 2);
            if dice.chance(50) {
                b.inner_method(&[ghost], &[THIS, p, x, k], code);
            } else {
                b.method(&[ghost], Some(code));
            }
        }
        let analysis = analyzed(&mut b);
        let broken: Vec<Violation> = analysis.inferred.violations.clone();
        assert_eq!(broken, [], "seed {seed}");
        for (field, guard) in b.program.fields.iter().zip(&analysis.discipline.guards) {
            match (field.fixed, guard) {
                (Some(_), Guard::NoGuard) => demoted += 1,
                (_, Guard::NoGuard) => unguarded += 1,
                _ => guarded += 1,
            }
        }
    }
    // The programs are neither all well locked nor all broken.
    assert!(
        guarded > 100 && unguarded > 100 && demoted > 50,
        "{guarded} {unguarded} {demoted}"
    );
}

/// Verdicts ignore contexts that the discipline excludes, and explain the others.
#[test]
fn verdicts() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let value = b.field(class, &[THIS]);
    let helper = b.inner_method(
        &[],
        &[THIS],
        vec![read(value, &ON_THIS), write(value, &ON_THIS)],
    );
    let once = b.method(&[], Some(sync(THIS, vec![call(helper, &ON_THIS)])));
    let twice = b.method(&[], Some(vec![call(once, &ON_THIS), call(once, &ON_THIS)]));
    let region = Code::Region(false, vec![call(once, &ON_THIS)]);
    let around = b.method(&[], Some(vec![region, does(Atomicity::ATOMIC)]));
    let unknown = b.method(&[], None);
    let analysis = analyzed(&mut b);
    let mut verdict = |method| analysis.verdict(&mut b.algebra, &b.program, method);
    assert_eq!(verdict(helper), Verdict::Proved);
    assert_eq!(verdict(once), Verdict::Proved);
    assert_eq!(verdict(unknown), Verdict::Unknown);
    let Verdict::Unproved(Fault::Torn(tear)) = verdict(twice) else {
        unreachable!()
    };
    assert_eq!((tear.first.node, tear.second.node), (NodeId(1), NodeId(2)));
    assert!(matches!(verdict(around), Verdict::Unproved(_)));
    assert!(analysis.proves_region(&mut b.algebra, &b.program, around, RegionId(0)));
    assert!(!analysis.proves_region(&mut b.algebra, &b.program, around, RegionId(7)));
}

/// A declared guard that one public method ignores protects nobody: the other method is not proved by it.
#[test]
fn a_broken_guard_proves_nothing() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let value = b.field(class, &[]);
    b.program.fields[value.index()].fixed = Some(Guard::GuardedBy(THIS));
    let update = b.method(
        &[],
        Some(sync(
            THIS,
            vec![read(value, &ON_THIS), write(value, &ON_THIS)],
        )),
    );
    let racy = b.method(&[], Some(vec![write(value, &ON_THIS)]));
    let analysis = analyzed(&mut b);
    assert_eq!(analysis.guarded.broken[0].field, value);
    assert!(matches!(
        analysis.verdict(&mut b.algebra, &b.program, update),
        Verdict::Unproved(Fault::Torn(_))
    ));
    assert_eq!(
        analysis.verdict(&mut b.algebra, &b.program, racy),
        Verdict::Proved
    );
}
