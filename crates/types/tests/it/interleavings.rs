//! The meaning of *proved*, by brute force: two threads run every pair of public methods on one object in all interleavings, and no method that the types prove is ever torn.
//!
//! Torn as the design words it: a conflict leaves the method at one access, and a conflict from the same or a later access of the other thread comes back to a later one.

use crate::builder::{Builder, Code, ON_THIS, call, read, sync, write};
use crate::guards::Dice;
use untorn_types::analysis::{Verdict, analyze};
use untorn_types::infer::Limits;
use untorn_types::input::{FieldId, MethodId};
use untorn_types::locks::{Lock, Locks, Root};

/// A method as what it does, calls expanded.
#[derive(Clone, Copy, Debug)]
enum Op {
    Acquire(usize),
    Release(usize),
    Access { field: usize, write: bool },
}

const FIELDS: usize = 3;
const METHODS: usize = 4;

/// The same code twice: as input of the analysis and as operations.
fn random_body(
    dice: &mut Dice,
    locks: &[Lock],
    bodies: &[Vec<Op>],
    depth: usize,
) -> (Vec<Code>, Vec<Op>) {
    let (mut code, mut ops) = (Vec::new(), Vec::new());
    for _ in 0..=dice.roll(2) {
        match dice.roll(if depth > 0 { 5 } else { 3 }) {
            0 | 1 => {
                let (field, is_write) = (dice.roll(FIELDS), dice.chance(50));
                let id = FieldId(field as u32);
                code.push(if is_write {
                    write(id, &ON_THIS)
                } else {
                    read(id, &ON_THIS)
                });
                ops.push(Op::Access {
                    field,
                    write: is_write,
                });
            }
            2 => {
                if let Some(callee) = bodies.len().checked_sub(1).map(|max| dice.roll(max + 1)) {
                    code.push(call(MethodId(callee as u32), &ON_THIS));
                    ops.extend(&bodies[callee]);
                }
            }
            _ => {
                let lock = dice.pick(&[0, 0, 1, 2]);
                let (inner, inner_ops) = random_body(dice, locks, bodies, depth - 1);
                code.extend(sync(locks[lock], inner));
                ops.push(Op::Acquire(lock));
                ops.extend(inner_ops);
                ops.push(Op::Release(lock));
            }
        }
    }
    (code, ops)
}

/// All interleavings of two threads; remembers which of the two was torn in any.
struct Explorer<'a> {
    threads: [&'a [Op]; 2],
    at: [usize; 2],
    depth: [[u32; 2]; 3],
    history: Vec<(usize, usize)>,
    torn: [bool; 2],
}

impl Explorer<'_> {
    fn explore(&mut self) {
        let mut moved = false;
        for thread in 0..2 {
            let at = self.at[thread];
            let Some(&op) = self.threads[thread].get(at) else {
                continue;
            };
            match op {
                Op::Acquire(lock) if self.depth[lock][1 - thread] > 0 => continue,
                Op::Acquire(lock) => self.depth[lock][thread] += 1,
                Op::Release(lock) => self.depth[lock][thread] -= 1,
                Op::Access { .. } => {}
            }
            moved = true;
            self.at[thread] += 1;
            self.history.push((thread, at));
            self.explore();
            self.history.pop();
            self.at[thread] -= 1;
            match op {
                Op::Acquire(lock) => self.depth[lock][thread] -= 1,
                Op::Release(lock) => self.depth[lock][thread] += 1,
                Op::Access { .. } => {}
            }
            if self.torn == [true; 2] {
                return;
            }
        }
        // Also a deadlocked prefix is an execution.
        if !moved {
            for thread in 0..2 {
                self.torn[thread] = self.torn[thread] || self.is_torn(thread);
            }
        }
    }

    fn conflict(&self, a: (usize, usize), b: (usize, usize)) -> bool {
        match (self.threads[a.0][a.1], self.threads[b.0][b.1]) {
            (Op::Access { field: f, write: v }, Op::Access { field: g, write: w }) => {
                f == g && (v || w)
            }
            _ => false,
        }
    }

    fn is_torn(&self, thread: usize) -> bool {
        // The earliest access of the other thread that something in this one comes before.
        let mut left: Option<(usize, usize)> = None;
        for (index, &event) in self.history.iter().enumerate() {
            if event.0 == thread {
                let returns = self.history[..index].iter().any(|&before| {
                    before.0 != thread
                        && left.is_some_and(|(access, out)| before.1 >= access && out < event.1)
                        && self.conflict(before, event)
                });
                if returns {
                    return true;
                }
            } else if left.is_none() {
                let out = self.history[..index]
                    .iter()
                    .find(|&&before| before.0 == thread && self.conflict(before, event));
                left = out.map(|&(_, out)| (event.1, out));
            }
        }
        false
    }
}

#[test]
fn no_proved_method_is_ever_torn() {
    let (mut proved, mut torn, mut spared) = (0, 0, 0);
    for seed in 0..1500u64 {
        let mut dice = Dice::new(seed);
        let mut b = Builder::default();
        let class = b.class(&[], false);
        let name = b.algebra.locks.class("K");
        let locks = [
            Locks::THIS,
            b.path(Locks::THIS, &["lock"]),
            b.algebra.locks.root(Root::Class(name)),
        ];
        for _ in 0..FIELDS {
            b.field(class, &locks);
        }
        let mut bodies: Vec<Vec<Op>> = Vec::new();
        for _ in 0..METHODS {
            let (code, ops) = random_body(&mut dice, &locks, &bodies, 2);
            bodies.push(ops);
            if dice.chance(25) {
                b.inner_method(&[], &locks, code);
            } else {
                b.method(&[], Some(code));
            }
        }
        let analysis =
            analyze(&mut b.algebra, &b.program, &[], Limits::default()).expect("no declarations");
        let open: Vec<usize> = (0..METHODS)
            .filter(|&m| b.program.methods[m].open)
            .collect();
        let mut was_torn = [false; METHODS];
        for &m in &open {
            for &n in open.iter().filter(|&&n| n >= m) {
                if bodies[m].len() + bodies[n].len() > 18 {
                    continue;
                }
                let mut explorer = Explorer {
                    threads: [&bodies[m], &bodies[n]],
                    at: [0; 2],
                    depth: [[0; 2]; 3],
                    history: Vec::new(),
                    torn: [was_torn[m], was_torn[n]],
                };
                explorer.explore();
                was_torn[m] |= explorer.torn[0];
                was_torn[n] |= explorer.torn[1];
            }
        }
        for &m in &open {
            let verdict = analysis.verdict(&mut b.algebra, &b.program, MethodId(m as u32));
            let is_proved = verdict == Verdict::Proved;
            assert!(
                !(is_proved && was_torn[m]),
                "seed {seed}: method {m} {:?}",
                bodies[m]
            );
            proved += usize::from(is_proved);
            torn += usize::from(was_torn[m]);
            spared += usize::from(!is_proved && !was_torn[m]);
        }
    }
    println!("{proved} proved, {torn} torn, {spared} neither");
    assert!(proved > 500 && torn > 500, "{proved} proved, {torn} torn");
}
