//! Guard inference against brute force: no other discipline guards more fields, and the one found holds.

use proptest::prelude::*;
use untorn_types::guards::problem::{
    AccessUse, CallUse, FieldUse, MethodUse, Point, Problem, SyncUse,
};
use untorn_types::guards::solve;
use untorn_types::input::{
    Actuals, Allocation, Arg, Class, ClassId, FieldId, Flow, Guard, MethodId, NodeId, Slot, SlotId,
};
use untorn_types::locks::{Lock, Locks, Root};

/// A small generator whose seed proptest prints.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }
    fn some<T: Copy>(&mut self, from: &[T], percent: usize) -> Vec<T> {
        from.iter()
            .copied()
            .filter(|_| self.chance(percent))
            .collect()
    }
}

const METHODS: usize = 3;
const SLOTS: usize = 2;

/// Class 0 has a ghost, which may be protecting; class 1 has none.
fn random_problem(dice: &mut Dice, locks: &mut Locks) -> Problem {
    let ghost = locks.ghost("x");
    let x = locks.root(Root::Ghost(ghost));
    let p = locks.root(Root::Param(0));
    let class = locks.class("K");
    let k = locks.root(Root::Class(class));
    let all = [Locks::THIS, p, k, x];
    let protecting = dice.chance(40);
    let mut problem = Problem {
        classes: vec![
            Class {
                ghosts: vec![ghost],
                protecting: protecting.then_some(ghost),
            },
            Class::default(),
        ],
        ..Problem::default()
    };
    for _ in 0..SLOTS {
        let candidates = dice.some(&[Locks::THIS, p, k, Locks::ALWAYS_HELD, Locks::TLL], 45);
        problem.slots.push(Slot {
            candidates,
            protecting: dice.chance(40),
        });
    }
    for _ in 0..3 {
        let owner = dice.roll(2);
        let own: &[Lock] = if owner == 0 {
            &[Locks::THIS, x, k]
        } else {
            &[Locks::THIS, k]
        };
        let candidates = dice.some(own, 70);
        let fixed = dice.chance(15).then(|| Guard::GuardedBy(dice.pick(own)));
        problem.fields.push(FieldUse {
            owner: ClassId(owner as u32),
            fixed,
            candidates,
        });
    }
    for index in 0..METHODS {
        let scope: &[Lock] = if protecting { &all[..3] } else { &all };
        problem.methods.push(MethodUse {
            open: dice.chance(40),
            may_hold: dice.some(scope, 50),
            holds: dice.some(&all, 5),
            protecting: if protecting { vec![x] } else { Vec::new() },
            overrides: if index > 0 && dice.chance(20) {
                vec![(MethodId(0), Actuals::default())]
            } else {
                Vec::new()
            },
        });
    }
    let lock_arg = |dice: &mut Dice| match dice.roll(5) {
        0 => Arg::Unknown,
        1 => Arg::Lock(p),
        _ => Arg::Lock(Locks::THIS),
    };
    let ghost_arg = |dice: &mut Dice| match dice.roll(5) {
        0 => Arg::Unknown,
        1 => Arg::Lock(dice.pick(&all)),
        2 => Arg::Lock(x),
        _ => Arg::Slot(SlotId(dice.roll(SLOTS) as u32)),
    };
    let point = |dice: &mut Dice| Point {
        method: MethodId(dice.roll(METHODS) as u32),
        node: NodeId(0),
        held: dice.some(&all, 35),
        blurred: dice.chance(8),
    };
    for _ in 0..dice.roll(6) {
        let field = FieldId(dice.roll(3) as u32);
        let actuals = Actuals(vec![
            (Root::This, lock_arg(dice)),
            (Root::Ghost(ghost), ghost_arg(dice)),
        ]);
        let (point, write) = (point(dice), dice.chance(50));
        problem.accesses.push(AccessUse {
            point,
            field,
            actuals,
            write,
        });
    }
    for _ in 0..dice.roll(4) {
        let actuals = Actuals(vec![
            (Root::This, lock_arg(dice)),
            (Root::Param(0), lock_arg(dice)),
            (Root::Ghost(ghost), ghost_arg(dice)),
        ]);
        let method = MethodId(dice.roll(METHODS) as u32);
        problem.calls.push(CallUse {
            point: point(dice),
            method,
            actuals,
        });
    }
    if protecting {
        for _ in 0..dice.roll(3) {
            let protector = if dice.chance(40) {
                Arg::Lock(x)
            } else {
                Arg::Slot(SlotId(dice.roll(SLOTS) as u32))
            };
            problem.syncs.push(SyncUse {
                point: point(dice),
                protector,
            });
        }
    }
    for _ in 0..dice.roll(2) {
        let actuals = Actuals(vec![
            (Root::This, lock_arg(dice)),
            (Root::Param(0), lock_arg(dice)),
        ]);
        let to = if dice.chance(85) {
            Arg::Slot(SlotId(0))
        } else {
            Arg::Unknown
        };
        problem.flows.push(Flow {
            from: Arg::Slot(SlotId(1)),
            actuals,
            to,
        });
    }
    for _ in 0..dice.roll(2) {
        let slot = Arg::Slot(SlotId(dice.roll(SLOTS) as u32));
        let actuals = Actuals(vec![(Root::Ghost(ghost), slot)]);
        problem.allocations.push(Allocation {
            classes: vec![(ClassId(0), actuals)],
        });
    }
    problem
}

/// A requirement on the callers of a method: to hold a lock, or to hold it unless it is `none`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Demand {
    method: MethodId,
    lock: Lock,
    protecting: bool,
}

struct Check<'a> {
    locks: &'a mut Locks,
    problem: &'a Problem,
    slots: &'a [Lock],
    /// The declared requirements that are to be kept.
    declared: &'a [(MethodId, Lock)],
    demands: Vec<Demand>,
}

impl Check<'_> {
    /// Straight from the meaning: collect demands until nothing new comes, fail where nobody can meet one.
    fn holds(&mut self, guards: &[Option<Guard>]) -> bool {
        let problem = self.problem;
        for &(method, lock) in self.declared {
            self.push(Demand {
                method,
                lock,
                protecting: false,
            });
        }
        for access in &problem.accesses {
            let lock = match guards[access.field.index()] {
                Some(Guard::GuardedBy(lock)) => lock,
                Some(Guard::WriteGuardedBy(lock)) if access.write => lock,
                _ => continue,
            };
            let theta = access.actuals.substitution(self.slots);
            let there = theta.apply(self.locks, lock);
            if there == Some(Locks::ALWAYS_HELD) || !self.demand(&access.point, there, false) {
                return false;
            }
        }
        for sync in &problem.syncs {
            let lock = match sync.protector {
                Arg::Lock(lock) => lock,
                Arg::Slot(slot) => self.slots[slot.index()],
                Arg::Unknown => continue,
            };
            if !self.demand(&sync.point, Some(lock), true) {
                return false;
            }
        }
        for flow in &problem.flows {
            let lock = |arg| match arg {
                Arg::Lock(lock) => lock,
                Arg::Slot(slot) => self.slots[SlotId::index(slot)],
                Arg::Unknown => Locks::NONE,
            };
            let (from, to) = (lock(flow.from), lock(flow.to));
            if flow
                .actuals
                .substitution(self.slots)
                .apply(self.locks, from)
                != Some(to)
            {
                return false;
            }
        }
        for (class, actuals) in problem.allocations.iter().flat_map(|a| &a.classes) {
            let theta = actuals.substitution(self.slots);
            for (field, guard) in problem.fields.iter().zip(guards) {
                let (Some(Guard::GuardedBy(l) | Guard::WriteGuardedBy(l)), true) =
                    (guard, field.owner == *class)
                else {
                    continue;
                };
                if matches!(self.locks.root_of(*l), Root::Ghost(_))
                    && theta.apply(self.locks, *l) == Some(Locks::ALWAYS_HELD)
                {
                    return false;
                }
            }
            if let Some(ghost) = problem.classes[class.index()].protecting {
                let ghost = self.locks.root(Root::Ghost(ghost));
                if theta.apply(self.locks, ghost) == Some(Locks::ALWAYS_HELD) {
                    return false;
                }
            }
        }
        let mut next = 0;
        while let Some(&demand) = self.demands.get(next) {
            next += 1;
            for call in problem.calls.iter().filter(|c| c.method == demand.method) {
                let there = call
                    .actuals
                    .substitution(self.slots)
                    .apply(self.locks, demand.lock);
                if there == Some(Locks::ALWAYS_HELD) && !demand.protecting {
                    continue;
                }
                if !self.demand(&call.point, there, demand.protecting) {
                    return false;
                }
            }
            for (above, _) in &problem.methods[demand.method.index()].overrides {
                if !demand.protecting && !self.ask(*above, demand.lock) {
                    return false;
                }
            }
        }
        true
    }

    fn demand(&mut self, point: &Point, lock: Option<Lock>, protecting: bool) -> bool {
        let method = &self.problem.methods[point.method.index()];
        match lock {
            None | Some(Locks::ALWAYS_HELD) => false,
            Some(Locks::NONE) => protecting,
            Some(Locks::TLL) => true,
            Some(lock) if point.held.contains(&lock) => true,
            Some(_) if point.blurred => false,
            Some(lock) if protecting && method.protecting.contains(&lock) => {
                self.push(Demand {
                    method: point.method,
                    lock,
                    protecting,
                });
                true
            }
            Some(lock) => self.ask(point.method, lock),
        }
    }

    fn ask(&mut self, id: MethodId, lock: Lock) -> bool {
        let method = &self.problem.methods[id.index()];
        let possible = self.declared.contains(&(id, lock))
            || (!method.open && method.may_hold.contains(&lock));
        if possible {
            self.push(Demand {
                method: id,
                lock,
                protecting: false,
            });
        }
        possible
    }

    fn push(&mut self, demand: Demand) {
        if !self.demands.contains(&demand) {
            self.demands.push(demand);
        }
    }
}

fn check(
    locks: &mut Locks,
    problem: &Problem,
    slots: &[Lock],
    declared: &[(MethodId, Lock)],
    guards: &[Option<Guard>],
) -> bool {
    Check {
        locks,
        problem,
        slots,
        declared,
        demands: Vec::new(),
    }
    .holds(guards)
}

fn declared_holds(problem: &Problem) -> Vec<(MethodId, Lock)> {
    let methods = problem.methods.iter().enumerate();
    methods
        .flat_map(|(i, m)| m.holds.iter().map(move |&l| (MethodId(i as u32), l)))
        .collect()
}

/// Declarations kept, fields guarded, fully guarded, slots with a protecting lock.
type Score = [usize; 4];

fn score(problem: &Problem, slots: &[Lock], guards: &[Option<Guard>]) -> Score {
    let mut score = [0; 4];
    for (field, guard) in problem.fields.iter().zip(guards) {
        if field.fixed.is_some() {
            score[0] += usize::from(guard.is_some());
        } else {
            score[1] += usize::from(guard.is_some());
            score[2] += usize::from(matches!(guard, Some(Guard::GuardedBy(_))));
        }
    }
    let pairs = problem.slots.iter().zip(slots);
    score[3] = pairs
        .filter(|(slot, choice)| slot.protecting && **choice != Locks::NONE)
        .count();
    score
}

fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![Vec::new()], |all, options| {
        all.iter()
            .flat_map(|prefix| {
                options
                    .iter()
                    .map(|o| [prefix.clone(), vec![o.clone()]].concat())
            })
            .collect()
    })
}

fn best(locks: &mut Locks, problem: &Problem) -> Option<Score> {
    let slot_choices: Vec<Vec<Lock>> = problem
        .slots
        .iter()
        .map(|s| [s.candidates.clone(), vec![Locks::NONE]].concat())
        .collect();
    let guard_choices: Vec<Vec<Option<Guard>>> = problem
        .fields
        .iter()
        .map(|field| match field.fixed {
            Some(guard) => vec![None, Some(guard)],
            None => {
                let full = field.candidates.iter().map(|&l| Some(Guard::GuardedBy(l)));
                let writes = field
                    .candidates
                    .iter()
                    .map(|&l| Some(Guard::WriteGuardedBy(l)));
                full.chain(writes).chain([None]).collect()
            }
        })
        .collect();
    let holds_choices: Vec<Vec<Option<(MethodId, Lock)>>> = declared_holds(problem)
        .into_iter()
        .map(|hold| vec![None, Some(hold)])
        .collect();
    let mut best = None;
    for kept in product(&holds_choices) {
        let declared: Vec<(MethodId, Lock)> = kept.into_iter().flatten().collect();
        for slots in product(&slot_choices) {
            for guards in product(&guard_choices) {
                let mut score = score(problem, &slots, &guards);
                score[0] += declared.len();
                if best < Some(score) && check(locks, problem, &slots, &declared, &guards) {
                    best = Some(score);
                }
            }
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn as_many_fields_as_possible_are_guarded(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut locks = Locks::default();
        let problem = random_problem(&mut dice, &mut locks);
        let expected = best(&mut locks, &problem);
        let found = solve(&mut locks, &problem);
        prop_assert_eq!(found.is_ok(), expected.is_some());
        let (Ok(found), Some(expected)) = (found, expected) else { return Ok(()) };
        prop_assert!(found.optimal);
        let is_broken = |index: usize| found.broken.iter().any(|b| b.field.index() == index);
        let guards: Vec<Option<Guard>> = found
            .proven()
            .guards
            .into_iter()
            .map(|guard| (guard != Guard::NoGuard).then_some(guard))
            .collect();
        let mut declared = declared_holds(&problem);
        declared.retain(|hold| !found.unmet.contains(hold));
        let slots = &found.discipline.slots;
        let holds = check(&mut locks, &problem, slots, &declared, &guards);
        prop_assert!(holds, "the discipline found does not hold");
        let mut score = score(&problem, slots, &guards);
        score[0] += declared.len();
        prop_assert_eq!(score, expected);
        for (index, field) in problem.fields.iter().enumerate() {
            let explained = is_broken(index) || field.candidates.is_empty();
            prop_assert!(guards[index].is_some() || explained, "an unguarded field says why");
        }
    }
}
