//! Conditional atomicities: section 4.2 of *Types for Atomicity*, as shared decision diagrams.
//!
//! Where we differ: the paper keeps terms and simplifies them (section 7.1, Figure 12), and suggests decision diagrams as future work.
//! Here an atomicity is a node of one hash-consed, ordered and reduced diagram, so two atomicities are equivalent exactly if they are the same node, every term is simplified by construction, and no operation visits a pair of nodes twice.
//!
//! A decision node tests whether a lock is held, or whether a ghost stands for `always_held` or for `none` (sections 7.3 and 7.4).
//! The three tests of one ghost are not independent: `none` is never held and `always_held` always is.
//! The diagram knows this: "is `always_held`" is only asked where the ghost is held, "is `none`" only where it is not.
//! Thus every path of a diagram is a possible situation, and equality of nodes is equality on all possible situations.

mod ops;
mod substitute;
mod valuation;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::basic::Basic;
use crate::locks::{Lock, Locks};

pub use valuation::Valuation;

/// A conditional atomicity: an index into its [`Algebra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atomicity(u32);

impl Atomicity {
    /// `const`
    pub const CONST: Atomicity = Atomicity(Basic::Const as u32);
    /// `mover`
    pub const MOVER: Atomicity = Atomicity(Basic::Mover as u32);
    /// `right`
    pub const RIGHT: Atomicity = Atomicity(Basic::Right as u32);
    /// `left`
    pub const LEFT: Atomicity = Atomicity(Basic::Left as u32);
    /// `atomic`
    pub const ATOMIC: Atomicity = Atomicity(Basic::Atomic as u32);
    /// `cmpd`
    pub const CMPD: Atomicity = Atomicity(Basic::Cmpd as u32);
    /// `error`
    pub const ERROR: Atomicity = Atomicity(Basic::Error as u32);

    /// The basic atomicity, if it depends on no lock.
    pub fn basic(self) -> Option<Basic> {
        Basic::ALL.get(self.0 as usize).copied()
    }
}

impl From<Basic> for Atomicity {
    fn from(basic: Basic) -> Self {
        Atomicity(basic as u32)
    }
}

/// What a decision node asks of its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Question {
    /// Does the current thread hold it?
    Held,
    /// Is the ghost `always_held`?
    IsAlwaysHeld,
    /// Is the ghost `none`?
    IsNone,
}

/// A question about a lock; the order of tests is the order of the diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Test {
    /// The lock.
    pub lock: Lock,
    /// The question.
    pub question: Question,
}

impl Test {
    /// Is the lock held?
    pub fn held(lock: Lock) -> Test {
        Test {
            lock,
            question: Question::Held,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    test: Test,
    high: Atomicity,
    low: Atomicity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Op {
    Seq,
    Join,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Map {
    Star,
    Asserted,
}

/// The home of all atomicities and lock expressions of one analysis.
#[derive(Clone, Debug)]
pub struct Algebra {
    /// The lock expressions that the tests speak of.
    pub locks: Locks,
    nodes: Vec<Node>,
    unique: FxHashMap<Node, Atomicity>,
    binary: FxHashMap<(Op, Atomicity, Atomicity), Atomicity>,
    unary: FxHashMap<(Map, Atomicity), Atomicity>,
    cofactors: FxHashMap<(Test, bool, Atomicity), Atomicity>,
    order: FxHashMap<(Atomicity, Atomicity), bool>,
}

const LEAVES: u32 = Basic::ALL.len() as u32;

impl Algebra {
    /// An algebra over the given lock expressions.
    pub fn new(locks: Locks) -> Algebra {
        Algebra {
            locks,
            nodes: Vec::new(),
            unique: FxHashMap::default(),
            binary: FxHashMap::default(),
            unary: FxHashMap::default(),
            cofactors: FxHashMap::default(),
            order: FxHashMap::default(),
        }
    }

    /// How many decision nodes exist.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn node(&self, a: Atomicity) -> Option<Node> {
        a.0.checked_sub(LEAVES)
            .map(|index| self.nodes[index as usize])
    }

    /// The first test of the diagram with both outcomes; nothing for a basic atomicity.
    pub fn branches(&self, a: Atomicity) -> Option<(Test, Atomicity, Atomicity)> {
        self.node(a).map(|n| (n.test, n.high, n.low))
    }

    /// The reduced node; both outcomes must only contain later tests.
    fn make(&mut self, test: Test, high: Atomicity, low: Atomicity) -> Atomicity {
        if high == low {
            return high;
        }
        let node = Node { test, high, low };
        if let Some(&known) = self.unique.get(&node) {
            return known;
        }
        let id = Atomicity(LEAVES + self.nodes.len() as u32);
        self.nodes.push(node);
        self.unique.insert(node, id);
        id
    }

    /// The diagram where a test has come out one way.
    pub fn assume(&mut self, a: Atomicity, test: Test, outcome: bool) -> Atomicity {
        let Some(node) = self.node(a) else { return a };
        if node.test > test {
            return a;
        }
        if node.test == test {
            return if outcome { node.high } else { node.low };
        }
        if let Some(&known) = self.cofactors.get(&(test, outcome, a)) {
            return known;
        }
        let high = self.assume(node.high, test, outcome);
        let low = self.assume(node.low, test, outcome);
        let result = self.make(node.test, high, low);
        self.cofactors.insert((test, outcome, a), result);
        result
    }

    /// The diagram where the lock is held.
    pub fn assume_held(&mut self, a: Atomicity, lock: Lock) -> Atomicity {
        self.assume(a, Test::held(lock), true)
    }

    /// Puts a test with two outcomes at its place in the order.
    fn place(&mut self, test: Test, high: Atomicity, low: Atomicity) -> Atomicity {
        let first = [high, low]
            .into_iter()
            .filter_map(|a| self.node(a))
            .map(|n| n.test)
            .min();
        match first {
            Some(first) if first < test => {
                let (h1, l1) = (
                    self.assume(high, first, true),
                    self.assume(low, first, true),
                );
                let (h0, l0) = (
                    self.assume(high, first, false),
                    self.assume(low, first, false),
                );
                let (on, off) = (self.place(test, h1, l1), self.place(test, h0, l0));
                self.make(first, on, off)
            }
            _ => {
                let high = self.assume(high, test, true);
                let low = self.assume(low, test, false);
                self.make(test, high, low)
            }
        }
    }

    /// `l ? high : low`
    pub fn held(&mut self, lock: Lock, high: Atomicity, low: Atomicity) -> Atomicity {
        match lock {
            Locks::NONE => low,
            Locks::ALWAYS_HELD => high,
            _ => self.place(Test::held(lock), high, low),
        }
    }

    /// `(l = none) ? high : low`; only a ghost can stand for `none`.
    pub fn is_none(&mut self, lock: Lock, high: Atomicity, low: Atomicity) -> Atomicity {
        if lock == Locks::NONE {
            return high;
        }
        if self.locks.as_ghost(lock).is_none() {
            return low;
        }
        let held = Test::held(lock);
        let (high, not_held) = (
            self.assume(high, held, false),
            self.assume(low, held, false),
        );
        let test = Test {
            lock,
            question: Question::IsNone,
        };
        let unheld = self.place(test, high, not_held);
        self.held(lock, low, unheld)
    }

    /// `(l = always_held) ? high : low`; only a ghost can stand for `always_held`.
    pub fn is_always_held(&mut self, lock: Lock, high: Atomicity, low: Atomicity) -> Atomicity {
        if lock == Locks::ALWAYS_HELD {
            return high;
        }
        if self.locks.as_ghost(lock).is_none() {
            return low;
        }
        let held = Test::held(lock);
        let (high, not_always) = (self.assume(high, held, true), self.assume(low, held, true));
        let test = Test {
            lock,
            question: Question::IsAlwaysHeld,
        };
        let on = self.place(test, high, not_always);
        self.held(lock, on, low)
    }

    /// The conditional on any test.
    pub fn test(&mut self, test: Test, high: Atomicity, low: Atomicity) -> Atomicity {
        match test.question {
            Question::Held => self.held(test.lock, high, low),
            Question::IsAlwaysHeld => self.is_always_held(test.lock, high, low),
            Question::IsNone => self.is_none(test.lock, high, low),
        }
    }

    /// All basic atomicities that some situation yields.
    pub fn outcomes(&self, a: Atomicity) -> Vec<Basic> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut work = vec![a];
        while let Some(a) = work.pop() {
            if !seen.insert(a) {
                continue;
            }
            match self.node(a) {
                Some(node) => work.extend([node.high, node.low]),
                None => found.extend(a.basic()),
            }
        }
        found.sort_unstable();
        found
    }

    /// Does the diagram have more than so many decision nodes?
    pub fn exceeds(&self, a: Atomicity, limit: usize) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![a];
        while let Some(a) = work.pop() {
            if let Some(node) = self.node(a)
                && seen.insert(a)
            {
                if seen.len() > limit {
                    return true;
                }
                work.extend([node.high, node.low]);
            }
        }
        false
    }

    /// All locks that the diagram tests, each once, in the order of the diagram.
    pub fn support(&self, a: Atomicity) -> Vec<Lock> {
        let mut seen = FxHashSet::default();
        let mut locks = Vec::new();
        let mut work = vec![a];
        while let Some(a) = work.pop() {
            let Some(node) = self.node(a) else { continue };
            if seen.insert(a) {
                locks.push(node.test.lock);
                work.extend([node.high, node.low]);
            }
        }
        locks.sort_unstable();
        locks.dedup();
        locks
    }
}

impl Default for Algebra {
    fn default() -> Self {
        Algebra::new(Locks::default())
    }
}
