//! Path atomicity: the rules of Figures 3 to 5 over a control-flow graph.
//!
//! Where we differ: the paper types expressions, we type graphs.
//! The atomicity of the path so far is a forward fixpoint: `const` at the entry, composed with each node's effect, joined where paths meet.
//! A loop's closure is the limit of its repetitions, a branch's join is the join at its end, and `S(l, a)` comes from the acquire being `l ? const : right`, the release `l ? const : left`, and tests of `l` in between being decided by [`Holding`].
//! On structured code the result equals the paper's rules (`tests/structured.rs`), since composition distributes over join even with left and right movers.
//! The atomicity of the method is the join over all reachable points, not only exits: a method that never returns has an atomicity too.
//!
//! A path whose diagram grows beyond bounds is lifted to its shortest lock names, which only makes it larger.
//!
//! Guaranteed: never below the atomicity of any path of the graph.
//! May over-report: paths that the program's values exclude are counted.

mod explain;

use rustc_hash::FxHashMap;

use crate::algebra::{Algebra, Atomicity};
use crate::holding::{self, Holding, Holdings, NetLocks};
use crate::input::{Discipline, Effect, Field, Graph, NodeId, RegionId, Target};
use crate::locks::{Lock, Locks, Root};

pub use explain::{Fault, Part, Tear, explain, explain_in, explain_region};

/// What the nodes of a graph mean, besides the graph itself.
#[derive(Clone, Copy, Debug)]
pub struct Meaning<'a> {
    /// All fields.
    pub fields: &'a [Field],
    /// Their guards and the slots.
    pub discipline: &'a Discipline,
    /// The current atomicity of every method.
    pub methods: &'a [Atomicity],
    /// What every method does to the locks held.
    pub nets: &'a [NetLocks],
}

/// The result for one graph.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Every node's own atomicity in terms of the method's entry.
    pub effects: Vec<Atomicity>,
    /// The path so far before every node that control can reach.
    pub before: Vec<Option<Path>>,
    /// The join over all points inside each region, in the terms of the body and the locks held at the method's entry.
    pub regions: FxHashMap<RegionId, Atomicity>,
    /// The join over all points, in the terms of the body.
    pub whole: Atomicity,
}

/// The path so far, outermost region first: the method itself, then each region that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<Frame>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    region: Option<RegionId>,
    asserted: bool,
    path: Atomicity,
}

/// Diagrams of paths beyond this many nodes are cut back to their shortest lock names.
const MAX_NODES: usize = 2000;
/// How many lock names they keep.
const KEPT_LOCKS: usize = 8;

/// Keeps the path's diagram small, by lifting if need be.
fn tame(algebra: &mut Algebra, a: Atomicity) -> Atomicity {
    if !algebra.exceeds(a, MAX_NODES) {
        return a;
    }
    let mut support = algebra.support(a);
    support.sort_by_key(|&lock| {
        let local = matches!(algebra.locks.root_of(lock), Root::Local(_));
        (local, algebra.locks.size(lock), lock)
    });
    let kept = support.len().min(KEPT_LOCKS);
    support[kept..]
        .iter()
        .fold(a, |a, &lock| algebra.forget(a, lock))
}

impl Path {
    fn start() -> Path {
        Path(vec![Frame {
            region: None,
            asserted: false,
            path: Atomicity::CONST,
        }])
    }

    fn begin(&mut self, region: RegionId, asserted: bool) {
        self.0.push(Frame {
            region: Some(region),
            asserted,
            path: Atomicity::CONST,
        });
    }

    fn extend(&mut self, algebra: &mut Algebra, effect: Atomicity) {
        if let Some(last) = self.0.last_mut() {
            let longer = algebra.seq(last.path, effect);
            last.path = tame(algebra, longer);
        }
    }

    /// `[EXP ASSERT]`: for what surrounds it, an asserted region counts as `R` of its path.
    fn end(&mut self, algebra: &mut Algebra) {
        if self.0.len() > 1
            && let Some(Frame { asserted, path, .. }) = self.0.pop()
        {
            let effect = if asserted {
                algebra.asserted(path)
            } else {
                path
            };
            self.extend(algebra, effect);
        }
    }

    /// The whole path as if all regions ended here.
    fn closed(&self, algebra: &mut Algebra) -> Atomicity {
        let mut path = self.clone();
        path.truncate(algebra, 1);
        path.0.first().map_or(Atomicity::CONST, |frame| frame.path)
    }

    fn truncate(&mut self, algebra: &mut Algebra, frames: usize) {
        while self.0.len() > frames {
            self.end(algebra);
        }
    }

    fn join(&mut self, algebra: &mut Algebra, other: &Path) {
        let pairs = self.0.iter().zip(&other.0);
        let common = pairs
            .take_while(|(a, b)| a.region == b.region)
            .count()
            .max(1);
        let mut other = other.clone();
        self.truncate(algebra, common);
        other.truncate(algebra, common);
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            let joined = algebra.join(mine.path, theirs.path);
            mine.path = tame(algebra, joined);
        }
    }

    fn unbind(&mut self, algebra: &mut Algebra, local: u32) {
        for Frame { path, .. } in &mut self.0 {
            for lock in algebra.support(*path) {
                if algebra.locks.root_of(lock) == Root::Local(local) {
                    *path = algebra.forget(*path, lock);
                }
            }
        }
    }
}

impl Meaning<'_> {
    fn callee(&self, algebra: &mut Algebra, target: &Target) -> Atomicity {
        let known = self.methods.get(target.method.index()).copied();
        let callee = known.unwrap_or(Atomicity::CMPD);
        let slots = &self.discipline.slots;
        let here = algebra.substitute(callee, &target.actuals.substitution(slots));
        self.internally(algebra, target, here)
    }

    /// Section 7.4: what an internally synchronized class implements runs only where the receiver's ghost is `always_held`, or `none` as that of strangers.
    fn internally(&self, algebra: &mut Algebra, target: &Target, here: Atomicity) -> Atomicity {
        let Some(ghost) = target.internal.and_then(|arg| self.discipline.lock(arg)) else {
            return here;
        };
        if algebra.locks.is_special(ghost) {
            here
        } else if algebra.locks.as_ghost(ghost).is_some() {
            let strange = algebra.is_none(ghost, here, Atomicity::CONST);
            algebra.is_always_held(ghost, here, strange)
        } else {
            Atomicity::CONST
        }
    }

    fn protector(&self, arg: Option<crate::input::Arg>) -> Result<Option<Lock>, Atomicity> {
        match arg {
            None => Ok(None),
            Some(arg) => match self.discipline.lock(arg) {
                Some(lock) => Ok((lock != Locks::NONE).then_some(lock)),
                None => Err(Atomicity::ERROR),
            },
        }
    }

    /// A node's atomicity in terms of the locks held at the method's entry.
    pub fn effect(&self, algebra: &mut Algebra, effect: &Effect, before: &Holding) -> Atomicity {
        let here = match effect {
            Effect::Skip
            | Effect::Bind(_)
            | Effect::Assume { .. }
            | Effect::Begin { .. }
            | Effect::End => Atomicity::CONST,
            Effect::Does(a) => *a,
            Effect::Access { confined: true, .. } => Atomicity::MOVER,
            Effect::Access {
                field,
                actuals,
                write,
                confined: false,
            } => {
                let wide = self.fields.get(field.index()).is_some_and(|f| f.wide);
                self.discipline
                    .access(algebra, *field, wide, actuals, *write)
            }
            Effect::Acquire { lock, protector } => match self.protector(*protector) {
                Ok(protector) => algebra.acquire(*lock, protector),
                Err(error) => error,
            },
            Effect::Release { lock, protector } => {
                let protector = self.protector(*protector).unwrap_or(None);
                let release = algebra.release(*lock, protector);
                // Whether the lock is still held is a matter of the state after it.
                let slots = &self.discipline.slots;
                let after = holding::after(&mut algebra.locks, effect, before, self.nets, slots);
                return after.resolve(algebra, release);
            }
            Effect::Call(targets) => targets.iter().fold(Atomicity::CONST, |joined, target| {
                let callee = self.callee(algebra, target);
                algebra.join(joined, callee)
            }),
        };
        before.resolve(algebra, here)
    }
}

/// Solves one graph.
pub fn solve(
    algebra: &mut Algebra,
    graph: &Graph,
    holdings: &Holdings,
    meaning: &Meaning<'_>,
) -> Paths {
    let effects: Vec<Atomicity> = graph
        .nodes
        .iter()
        .zip(holdings)
        .map(|(node, holding)| match holding {
            Some(holding) => meaning.effect(algebra, &node.effect, holding),
            None => Atomicity::CONST,
        })
        .collect();
    let order = reverse_postorder(graph);
    let mut before: Vec<Option<Path>> = vec![None; graph.nodes.len()];
    if let Some(entry) = before.first_mut() {
        *entry = Some(Path::start());
    }
    let mut dirty = vec![true; graph.nodes.len()];
    let mut whole = Atomicity::CONST;
    let mut regions = FxHashMap::default();
    loop {
        let mut changed = false;
        for &at in &order {
            if !std::mem::take(&mut dirty[at.index()]) {
                continue;
            }
            let Some(mut path) = before[at.index()].clone() else {
                continue;
            };
            let node = &graph.nodes[at.index()];
            match node.effect {
                Effect::Begin { region, asserted } => path.begin(region, asserted),
                Effect::End => path.end(algebra),
                Effect::Bind(local) => path.unbind(algebra, local),
                _ => path.extend(algebra, effects[at.index()]),
            }
            for Frame { region, path, .. } in &path.0 {
                if let Some(region) = region {
                    let known = regions.entry(*region).or_insert(Atomicity::CONST);
                    *known = algebra.join(*known, *path);
                }
            }
            let closed = path.closed(algebra);
            whole = algebra.join(whole, closed);
            for next in &node.next {
                let Some(slot) = before.get_mut(next.index()) else {
                    continue;
                };
                let mut joined = slot.clone().unwrap_or_else(|| path.clone());
                joined.join(algebra, &path);
                if slot.as_ref() != Some(&joined) {
                    *slot = Some(joined);
                    dirty[next.index()] = true;
                    changed = true;
                }
            }
        }
        if !changed {
            return Paths {
                effects,
                before,
                regions,
                whole,
            };
        }
    }
}

fn reverse_postorder(graph: &Graph) -> Vec<NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut order = Vec::with_capacity(graph.nodes.len());
    let mut stack = Vec::new();
    if let Some(entry) = seen.first_mut() {
        *entry = true;
        stack.push((NodeId(0), 0));
    }
    while let Some((at, child)) = stack.last_mut() {
        if let Some(&next) = graph.nodes[at.index()].next.get(*child) {
            *child += 1;
            if let Some(seen) = seen.get_mut(next.index())
                && !std::mem::replace(seen, true)
            {
                stack.push((next, 0));
            }
        } else {
            order.push(*at);
            stack.pop();
        }
    }
    order.reverse();
    order
}
