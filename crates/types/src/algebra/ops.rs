//! Composition, join, closure and order, and the functions `S` and `R` of the rules.

use rustc_hash::FxHashMap;

use super::{Algebra, Atomicity, Map, Op, Test};
use crate::basic::Basic;
use crate::locks::Lock;

impl Algebra {
    fn apply(&mut self, op: Op, a: Atomicity, b: Atomicity) -> Atomicity {
        if let (Some(a), Some(b)) = (a.basic(), b.basic()) {
            return match op {
                Op::Seq => a.then(b).into(),
                Op::Join => a.join(b).into(),
            };
        }
        if a == Atomicity::CONST || b == Atomicity::ERROR {
            return b;
        }
        if b == Atomicity::CONST || a == Atomicity::ERROR || (op == Op::Join && a == b) {
            return a;
        }
        let key = if op == Op::Join && b < a {
            (op, b, a)
        } else {
            (op, a, b)
        };
        if let Some(&known) = self.binary.get(&key) {
            return known;
        }
        let (x, y) = (self.node(a), self.node(b));
        let test = match (x, y) {
            (Some(x), Some(y)) => x.test.min(y.test),
            (Some(n), None) | (None, Some(n)) => n.test,
            (None, None) => return a,
        };
        let split = |n: Option<super::Node>, whole: Atomicity| match n {
            Some(n) if n.test == test => (n.high, n.low),
            _ => (whole, whole),
        };
        let ((a1, a0), (b1, b0)) = (split(x, a), split(y, b));
        let high = self.apply(op, a1, b1);
        let low = self.apply(op, a0, b0);
        let result = self.make(test, high, low);
        self.binary.insert(key, result);
        result
    }

    /// `a ; b`
    pub fn seq(&mut self, a: Atomicity, b: Atomicity) -> Atomicity {
        self.apply(Op::Seq, a, b)
    }

    /// `a ⊔ b`
    pub fn join(&mut self, a: Atomicity, b: Atomicity) -> Atomicity {
        self.apply(Op::Join, a, b)
    }

    fn map(&mut self, map: Map, a: Atomicity) -> Atomicity {
        let Some(node) = self.node(a) else {
            let basic = a.basic().unwrap_or(Basic::Error);
            return match map {
                Map::Star => basic.star().into(),
                Map::Asserted => basic.asserted().into(),
            };
        };
        if let Some(&known) = self.unary.get(&(map, a)) {
            return known;
        }
        let high = self.map(map, node.high);
        let low = self.map(map, node.low);
        let result = self.make(node.test, high, low);
        self.unary.insert((map, a), result);
        result
    }

    /// `a*`
    pub fn star(&mut self, a: Atomicity) -> Atomicity {
        self.map(Map::Star, a)
    }

    /// `R(a)` of rule `[EXP ASSERT]`.
    pub fn asserted(&mut self, a: Atomicity) -> Atomicity {
        self.map(Map::Asserted, a)
    }

    /// `a ⊑ b`, point by point (Theorem 2).
    pub fn leq(&mut self, a: Atomicity, b: Atomicity) -> bool {
        if a == b || a == Atomicity::CONST || b == Atomicity::ERROR {
            return true;
        }
        if let (Some(a), Some(b)) = (a.basic(), b.basic()) {
            return a.leq(b);
        }
        if let Some(&known) = self.order.get(&(a, b)) {
            return known;
        }
        let (x, y) = (self.node(a), self.node(b));
        let test = match (x, y) {
            (Some(x), Some(y)) => x.test.min(y.test),
            (Some(n), None) | (None, Some(n)) => n.test,
            (None, None) => return false,
        };
        let split = |n: Option<super::Node>, whole: Atomicity| match n {
            Some(n) if n.test == test => (n.high, n.low),
            _ => (whole, whole),
        };
        let ((a1, a0), (b1, b0)) = (split(x, a), split(y, b));
        let result = self.leq(a1, b1) && self.leq(a0, b0);
        self.order.insert((a, b), result);
        result
    }

    /// The bound, raised to `error` in every situation in which `a` is one.
    pub fn excused(&mut self, bound: Atomicity, a: Atomicity) -> Atomicity {
        self.excused_node(bound, a, &mut FxHashMap::default())
    }

    fn excused_node(
        &mut self,
        bound: Atomicity,
        a: Atomicity,
        done: &mut FxHashMap<Atomicity, Atomicity>,
    ) -> Atomicity {
        let Some((test, high, low)) = self.branches(a) else {
            return if a == Atomicity::ERROR { a } else { bound };
        };
        if let Some(&known) = done.get(&a) {
            return known;
        }
        let high = self.excused_node(bound, high, done);
        let low = self.excused_node(bound, low, done);
        let result = self.test(test, high, low);
        done.insert(a, result);
        result
    }

    /// What an acquire of the lock is: nothing if it is held already, else a right mover.
    ///
    /// With a protecting lock (section 7.3) nobody else can be after the lock, but the protecting lock must be held.
    pub fn acquire(&mut self, lock: Option<Lock>, protector: Option<Lock>) -> Atomicity {
        let plain = match lock {
            Some(lock) => self.held(lock, Atomicity::CONST, Atomicity::RIGHT),
            None => Atomicity::RIGHT,
        };
        let Some(protector) = protector else {
            return plain;
        };
        let protected = self.held(protector, Atomicity::CONST, Atomicity::ERROR);
        self.is_none(protector, plain, protected)
    }

    /// What the release that gives the lock up is: nothing if it was held before its acquire, else a left mover.
    pub fn release(&mut self, lock: Option<Lock>, protector: Option<Lock>) -> Atomicity {
        let plain = match lock {
            Some(lock) => self.held(lock, Atomicity::CONST, Atomicity::LEFT),
            None => Atomicity::LEFT,
        };
        match protector {
            Some(protector) => self.is_none(protector, plain, Atomicity::CONST),
            None => plain,
        }
    }

    /// `S(l, a)` of rule `[EXP SYNC]`, for bodies with left and right movers too: `l ? a' : right; a'; left` where `a'` is `a` with `l` held.
    pub fn sync(&mut self, lock: Lock, body: Atomicity) -> Atomicity {
        let body = self.assume_held(body, lock);
        let entered = self.seq(Atomicity::RIGHT, body);
        let fresh = self.seq(entered, Atomicity::LEFT);
        self.held(lock, body, fresh)
    }

    /// A synchronized block on a lock that `protector` protects, unless `protector` is `none` (section 7.3).
    pub fn protected_sync(&mut self, lock: Lock, protector: Lock, body: Atomicity) -> Atomicity {
        let plain = self.sync(lock, body);
        let inside = self.assume_held(body, lock);
        let protected = self.held(protector, inside, Atomicity::ERROR);
        self.is_none(protector, plain, protected)
    }

    /// Lifting (Figure 5): tests of locks that are not well formed here give way to the join of their outcomes.
    pub fn lift(&mut self, a: Atomicity, mut well_formed: impl FnMut(Lock) -> bool) -> Atomicity {
        let bad: Vec<Lock> = self
            .support(a)
            .into_iter()
            .filter(|&l| !well_formed(l))
            .collect();
        bad.into_iter().fold(a, |a, lock| self.forget(a, lock))
    }

    /// Lifts one lock: the join over all that can be asked of it.
    pub fn forget(&mut self, a: Atomicity, lock: Lock) -> Atomicity {
        use super::Question::{Held, IsAlwaysHeld, IsNone};
        [IsNone, IsAlwaysHeld, Held]
            .into_iter()
            .fold(a, |a, question| {
                let test = Test { lock, question };
                let high = self.assume(a, test, true);
                let low = self.assume(a, test, false);
                if high == low {
                    high
                } else {
                    self.join(high, low)
                }
            })
    }
}
