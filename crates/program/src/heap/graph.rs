//! The constraint graph: variables, copy edges, and the propagation of differences along them.
//!
//! Cycles of unfiltered copies are collapsed from time to time (the edges grow while the call graph does), and variables are visited in topological order of the last collapse.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::set::ObjectSet;
use crate::ids::{ClassId, ObjectId};

/// A variable of the constraint graph: a value in a context, a field of an object, a static field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

impl Var {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is to be done for every object a variable may point to, by position in the solver's table.
pub type UseId = u32;

/// No filter on an edge.
const ANY: u32 = u32::MAX;
/// Collapse again when the edges have grown by this share.
const REGROWTH: f64 = 1.1;
const FIRST_COLLAPSE: usize = 20_000;

/// The constraint graph.
#[derive(Debug, Default)]
pub struct Graph {
    parent: Vec<u32>,
    sets: Vec<ObjectSet>,
    pending: Vec<ObjectSet>,
    edges: Vec<SmallVec<[(Var, u32); 2]>>,
    uses: Vec<SmallVec<[UseId; 1]>>,
    known_edges: FxHashSet<(u32, u32, u32)>,
    masks: FxHashMap<u32, ObjectSet>,
    rank: Vec<u32>,
    queue: BinaryHeap<(Reverse<u32>, u32)>,
    queued: Vec<bool>,
    collapse_at: usize,
    work: u64,
}

impl Graph {
    /// New variables, one after the other; gives the first.
    pub fn variables(&mut self, count: usize) -> Var {
        let first = self.parent.len();
        let total = first + count;
        self.parent.extend(first as u32..total as u32);
        self.sets.resize_with(total, ObjectSet::default);
        self.pending.resize_with(total, ObjectSet::default);
        self.edges.resize_with(total, SmallVec::new);
        self.uses.resize_with(total, SmallVec::new);
        // Later variables are nearer to what was found last: they come after all ranked ones.
        self.rank.extend(first as u32..total as u32);
        self.queued.resize(total, false);
        Var(first as u32)
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// How many copy edges there are.
    pub fn edge_count(&self) -> usize {
        self.known_edges.len()
    }

    /// Bytes of memory the sets hold.
    pub fn set_memory(&self) -> usize {
        self.sets.iter().map(ObjectSet::memory).sum()
    }

    /// How much was propagated, in words of sets.
    pub fn work(&self) -> u64 {
        self.work
    }

    fn find(&self, var: Var) -> usize {
        let mut root = var.index();
        while self.parent[root] as usize != root {
            root = self.parent[root] as usize;
        }
        root
    }

    /// What a variable may point to.
    pub fn objects(&self, var: Var) -> &ObjectSet {
        &self.sets[self.find(var)]
    }

    /// Adds an object to a variable.
    pub fn add_object(&mut self, var: Var, object: ObjectId) {
        let at = self.find(var);
        if self.sets[at].insert(object) {
            self.pending[at].insert(object);
            self.enqueue(at);
        }
    }

    /// Adds objects to a variable.
    pub fn add_objects(&mut self, var: Var, objects: &ObjectSet) {
        let at = self.find(var);
        self.flow(at, objects, ANY);
    }

    /// Adds a copy edge; objects that are no instances of the filter's class do not pass.
    pub fn add_edge(&mut self, from: Var, to: Var, filter: Option<ClassId>) {
        let (from, to) = (self.find(from), self.find(to));
        let filter = filter.map_or(ANY, |class| class.0);
        if from == to || !self.known_edges.insert((from as u32, to as u32, filter)) {
            return;
        }
        self.edges[from].push((Var(to as u32), filter));
        let present = self.sets[from].clone();
        self.flow(to, &present, filter);
    }

    /// Makes the solver apply a use to every object of a variable; gives those present.
    pub fn add_use(&mut self, var: Var, of: UseId) -> ObjectSet {
        let at = self.find(var);
        self.uses[at].push(of);
        // Objects that wait to be propagated will be seen by the use then.
        self.sets[at].difference(&self.pending[at])
    }

    /// Whether a filter on this class needs a mask that is not there yet.
    pub fn needs_mask(&self, class: ClassId) -> bool {
        !self.masks.contains_key(&class.0)
    }

    /// Sets the instances of a class.
    pub fn set_mask(&mut self, class: ClassId, members: ObjectSet) {
        self.masks.insert(class.0, members);
    }

    /// Those of some objects that are instances of a class whose instances were set.
    pub fn instances(&self, class: ClassId, objects: &ObjectSet) -> ObjectSet {
        match self.masks.get(&class.0) {
            Some(members) => objects.intersection(members),
            None => objects.clone(),
        }
    }

    /// Adds a new object to the masks of the classes it is an instance of.
    pub fn extend_masks(&mut self, object: ObjectId, is_instance: impl Fn(ClassId) -> bool) {
        for (class, members) in &mut self.masks {
            if is_instance(ClassId(*class)) {
                members.insert(object);
            }
        }
    }

    fn enqueue(&mut self, at: usize) {
        if !self.queued[at] {
            self.queued[at] = true;
            self.queue.push((Reverse(self.rank[at]), at as u32));
        }
    }

    fn flow(&mut self, to: usize, objects: &ObjectSet, filter: u32) {
        let mask = if filter == ANY {
            None
        } else {
            self.masks.get(&filter)
        };
        self.work += 1 + objects.words() as u64;
        let fresh = self.sets[to].add_all(objects, mask);
        if !fresh.is_empty() {
            self.pending[to].add_all(&fresh, None);
            self.enqueue(to);
        }
    }

    /// Propagates the next variable's new objects; gives its uses and those objects, `None` when all is done.
    pub fn step(&mut self) -> Option<(SmallVec<[UseId; 1]>, ObjectSet)> {
        if self.known_edges.len() >= self.collapse_at.max(FIRST_COLLAPSE) {
            self.collapse();
            self.collapse_at = (self.known_edges.len() as f64 * REGROWTH) as usize;
        }
        loop {
            let (_, at) = self.queue.pop()?;
            let at = at as usize;
            self.queued[at] = false;
            let fresh = std::mem::take(&mut self.pending[at]);
            if self.parent[at] as usize != at || fresh.is_empty() {
                continue;
            }
            let edges = std::mem::take(&mut self.edges[at]);
            for (to, filter) in &edges {
                let to = self.find(*to);
                if to != at {
                    self.flow(to, &fresh, *filter);
                }
            }
            self.edges[at] = edges;
            return Some((self.uses[at].clone(), fresh));
        }
    }

    /// Merges each cycle of unfiltered copies into one variable and ranks all in topological order.
    fn collapse(&mut self) {
        let components = self.components();
        for (position, component) in components.iter().rev().enumerate() {
            for var in component {
                self.rank[*var as usize] = position as u32;
            }
            if component.len() > 1 {
                self.merge(component);
            }
        }
        self.queue.clear();
        self.queued.fill(false);
        for at in 0..self.parent.len() {
            if self.parent[at] as usize == at && !self.pending[at].is_empty() {
                self.enqueue(at);
            }
        }
    }

    /// Makes some variables one.
    pub fn unify(&mut self, into: Var, others: &[Var]) {
        let mut component = vec![self.find(into) as u32];
        component.extend(others.iter().map(|var| self.find(*var) as u32));
        component.sort_unstable();
        component.dedup();
        if component.len() > 1 {
            self.merge(&component);
            let root = component[0] as usize;
            if !self.pending[root].is_empty() {
                self.enqueue(root);
            }
        }
    }

    fn merge(&mut self, component: &[u32]) {
        let root = component[0] as usize;
        let mut all = ObjectSet::default();
        let mut seen_by_all: Option<ObjectSet> = None;
        let mut edges = SmallVec::<[(Var, u32); 2]>::new();
        let mut uses = SmallVec::<[UseId; 1]>::new();
        for member in component {
            let member = *member as usize;
            let set = std::mem::take(&mut self.sets[member]);
            let pending = std::mem::take(&mut self.pending[member]);
            let seen = set.difference(&pending);
            seen_by_all = Some(match seen_by_all {
                None => seen,
                Some(common) => common.intersection(&seen),
            });
            all.add_all(&set, None);
            edges.extend(std::mem::take(&mut self.edges[member]));
            uses.extend(std::mem::take(&mut self.uses[member]));
            self.parent[member] = root as u32;
        }
        edges.sort_unstable();
        edges.dedup();
        for (to, filter) in &edges {
            self.known_edges.insert((root as u32, to.0, *filter));
        }
        self.pending[root] = all.difference(&seen_by_all.unwrap_or_default());
        self.sets[root] = all;
        self.edges[root] = edges;
        self.uses[root] = uses;
    }

    /// Strongly connected components of the unfiltered copies, targets before sources (Tarjan, iterative).
    fn components(&mut self) -> Vec<Vec<u32>> {
        const NEW: u32 = u32::MAX;
        for at in 0..self.parent.len() {
            let mut edges = std::mem::take(&mut self.edges[at]);
            for (to, _) in &mut edges {
                *to = Var(self.find(*to) as u32);
            }
            edges.sort_unstable();
            edges.dedup();
            edges.retain(|(to, _)| to.index() != at);
            self.edges[at] = edges;
        }
        let count = self.parent.len();
        let (mut index, mut low) = (vec![NEW; count], vec![0u32; count]);
        let mut on_path = vec![false; count];
        let (mut path, mut result) = (Vec::new(), Vec::new());
        let mut next = 0;
        for start in 0..count {
            if index[start] != NEW || self.parent[start] as usize != start {
                continue;
            }
            let mut stack = vec![(start, 0)];
            while let Some((at, edge)) = stack.last_mut() {
                let at = *at;
                if *edge == 0 {
                    index[at] = next;
                    low[at] = next;
                    next += 1;
                    path.push(at as u32);
                    on_path[at] = true;
                }
                let target = self.edges[at].get(*edge).copied();
                *edge += 1;
                match target {
                    Some((_, filter)) if filter != ANY => {}
                    Some((to, _)) if index[to.index()] == NEW => stack.push((to.index(), 0)),
                    Some((to, _)) => {
                        if on_path[to.index()] {
                            low[at] = low[at].min(index[to.index()]);
                        }
                    }
                    None => {
                        stack.pop();
                        if let Some((parent, _)) = stack.last() {
                            low[*parent] = low[*parent].min(low[at]);
                        }
                        if low[at] == index[at] {
                            let from = path
                                .iter()
                                .rposition(|member| *member as usize == at)
                                .unwrap_or(0);
                            let component = path.split_off(from);
                            for member in &component {
                                on_path[*member as usize] = false;
                            }
                            result.push(component);
                        }
                    }
                }
            }
        }
        result
    }
}
