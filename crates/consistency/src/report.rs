//! The whole-program report: which method views are inconsistent with the lock views, and which of those are worth a word.
//!
//! Paper: sections 2 (method consistency), 3.3 and 4 (what is reported).
//! A candidate is a method in a thread whose view, restricted to a class, overlaps lock views that form no chain; that has a subordinate lock view on those fields; and whose accesses are not one critical section (ours).
//! Of candidates, callers of others and those with larger views are left out.
//!
//! Differences: *lowest* and *smallest* compare methods by what they do to fields of one class, so that a method keeps its finding about one class when something it calls has another about a different class.
//! Methods in a large circle of calls are judged by what they do outside of it (see [`crate::execution`]).
//! *Smallest* compares candidates only; a getter's view, inconsistent by the letter but never reported, hides nothing.

use std::rc::Rc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use untorn_findings::Finding;
use untorn_program::{MethodId, Program, ThreadId};
use untorn_spec::Specification;

use crate::domain::{Entry, broken_pairs, is_subset, lock_view, method_view, overlap};
use crate::evidence::Writer;
use crate::execution::{Execution, Executor, Section, StateId};
use crate::groups::{GroupId, Grouping, PartId};
use crate::options::Options;
use crate::section::Sections;

/// How many callers are followed from a reported method.
const MOST_CALLERS: usize = 64;

/// What a check found.
#[derive(Debug)]
pub struct Outcome {
    /// One finding per reported method.
    pub findings: Vec<Finding>,
    /// How much was done.
    pub stats: Stats,
}

/// Sizes and times.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Abstract threads executed.
    pub threads: usize,
    /// Methods in object contexts, over all threads.
    pub contexts: usize,
    /// Calls that were executed for all objects their method is ever called on, since it has too many contexts.
    pub widened: usize,
    /// Inconsistent views that were left out since nobody asks that their methods be atomic.
    pub not_asked: usize,
    /// Variables in views.
    pub variables: usize,
    /// Different lock views, by class of the fields.
    pub lock_views: usize,
    /// Inconsistent method views reported: fields of the application, of libraries.
    pub reports: (usize, usize),
    /// Methods of the application: reported, with views.
    pub app_methods: (usize, usize),
    /// Methods of libraries: reported, with views.
    pub lib_methods: (usize, usize),
    /// Time of the symbolic execution.
    pub execution: Duration,
    /// Time of checking what it found.
    pub checking: Duration,
}

/// Checks every method of a program; `spec` says which ones were meant to be atomic.
pub fn check(program: &Program, options: &Options, spec: &Specification) -> Outcome {
    let clock = Instant::now();
    let mut executor = Executor::new(program, options);
    let executions = executor.run();
    let execution = clock.elapsed();
    let clock = Instant::now();
    let Executor {
        variables,
        sets,
        widened,
        ..
    } = executor;
    let grouping = Grouping::new(program, options, &variables, &sets, &executions);
    let mut checker = Checker {
        program,
        options,
        executions: &executions,
        grouping: &grouping,
        lock_views: IndexMap::default(),
        by_group: FxHashMap::default(),
        decided: FxHashMap::default(),
        with_views: FxHashSet::default(),
    };
    checker.collect_lock_views();
    let mut candidates = checker.candidates();
    if options.smallest {
        candidates = smallest(&checker, candidates);
    }
    let writer = Writer::new(program, &variables, &executions, &checker, spec);
    let all = candidates.len();
    if options.specified {
        let asked = |method: &MethodId| writer.is_asked_for(*method);
        candidates.retain(|of| asked(&of.method) || of.callers.iter().any(asked));
    }
    let mut stats = checker.stats(&candidates);
    stats.not_asked = all - candidates.len();
    stats.variables = variables.len();
    stats.widened = widened;
    let findings = writer.findings(&candidates);
    stats.execution = execution;
    stats.checking = clock.elapsed();
    Outcome { findings, stats }
}

/// A lock view of one group, and who has it.
#[derive(Debug, Default)]
pub struct LockViews {
    /// The threads, each once.
    pub threads: Vec<ThreadId>,
    /// Where it comes from: execution, state, section; each method's section once per execution.
    pub origins: Vec<(usize, StateId, Section)>,
}

/// Lock views that are no chain with respect to a method view, by their position among all lock views.
pub type Broken = Rc<Vec<(usize, usize)>>;

/// A method view that is to be reported.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The method.
    pub method: MethodId,
    /// In which execution.
    pub execution: usize,
    /// In which context.
    pub state: StateId,
    /// Whose fields.
    pub group: GroupId,
    /// What it accesses of them: its view, before r is told from w.
    pub part: PartId,
    /// What it is inconsistent with.
    pub broken: Broken,
    /// Inconsistent methods that were left out for this one, since they have a larger view.
    pub larger: Rc<[MethodId]>,
    /// Inconsistent methods that were left out for this one, since they call it; the nearest first.
    pub callers: Vec<MethodId>,
}

type Decided = FxHashMap<(ThreadId, PartId), Option<Broken>>;

/// Compares method views with lock views.
#[derive(Debug)]
pub struct Checker<'a> {
    program: &'a Program,
    options: &'a Options,
    executions: &'a [Execution],
    /// The groups of variables.
    pub grouping: &'a Grouping<'a>,
    /// All lock views.
    pub lock_views: IndexMap<(GroupId, Vec<Entry>), LockViews, FxBuildHasher>,
    by_group: FxHashMap<GroupId, Vec<usize>>,
    decided: Decided,
    with_views: FxHashSet<MethodId>,
}

impl<'a> Checker<'a> {
    fn collect_lock_views(&mut self) {
        let executions: &'a [Execution] = self.executions;
        for (number, execution) in executions.iter().enumerate() {
            let mut seen: FxHashSet<(usize, MethodId, Section)> = FxHashSet::default();
            for locked in &execution.locked {
                for part in self.grouping.parts(locked.accesses).iter() {
                    let group = part.group;
                    let view = lock_view(&self.grouping.entries(part.id));
                    let entry = self.lock_views.entry((group, view));
                    let index = entry.index();
                    let views = entry.or_default();
                    if views.origins.is_empty() {
                        self.by_group.entry(group).or_default().push(index);
                    }
                    if !views.threads.contains(&execution.thread) {
                        views.threads.push(execution.thread);
                    }
                    let node = execution.state(locked.state).node;
                    let method = self.program.heap().node(node).method;
                    if seen.insert((index, method, locked.section)) {
                        views.origins.push((number, locked.state, locked.section));
                    }
                }
            }
        }
    }

    fn candidates(&mut self) -> Vec<Candidate> {
        let executions: &'a [Execution] = self.executions;
        let mut candidates: Vec<Candidate> = Vec::new();
        for (number, execution) in executions.iter().enumerate() {
            let mut sections = Sections::new(self.program, execution, self.grouping);
            let mut found: Vec<(StateId, Inconsistent)> = Vec::new();
            let mut below = Below::new(execution, self.grouping.len());
            for (number, component) in execution.components.iter().enumerate() {
                let reported = below.reach(number, component);
                let from = found.len();
                for id in component {
                    if !self.program.heap().node(execution.state(*id).node).opaque {
                        let of = self.inconsistent(execution, *id, &reported, &mut sections);
                        found.extend(of.into_iter().map(|of| (*id, of)));
                    }
                }
                for (_, inconsistent) in &found[from..] {
                    below.add(number, inconsistent.group);
                }
            }
            // In several contexts a method mostly does the same.
            let mut by_method: IndexMap<(MethodId, PartId), (Inconsistent, Vec<StateId>), _> =
                IndexMap::with_hasher(FxBuildHasher);
            for (id, inconsistent) in found {
                let method = self.program.heap().node(execution.state(id).node).method;
                let entry = by_method.entry((method, inconsistent.part));
                let (_, states) = entry.or_insert_with(|| (inconsistent, Vec::new()));
                states.push(id);
            }
            let callers = (!by_method.is_empty()).then(|| callers(execution));
            for ((method, part), (Inconsistent { group, broken, .. }, states)) in by_method {
                let around = callers.as_ref().map(|callers| enclosing(callers, &states));
                candidates.push(Candidate {
                    method,
                    execution: number,
                    state: states[0],
                    group,
                    part,
                    broken,
                    larger: Rc::from([]),
                    callers: self.methods(execution, method, around.unwrap_or_default()),
                });
            }
        }
        candidates
    }

    /// The methods of some states, each once, without one and without what the compiler made.
    fn methods(
        &self,
        execution: &Execution,
        except: MethodId,
        states: Vec<StateId>,
    ) -> Vec<MethodId> {
        let mut methods = Vec::new();
        for id in states {
            let method = self.program.heap().node(execution.state(id).node).method;
            let synthetic = self.program.classes().method(method).flags.is_synthetic();
            if method != except && !synthetic && !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods
    }

    /// The inconsistent views of a state that may be reported.
    fn inconsistent(
        &mut self,
        execution: &Execution,
        id: StateId,
        reported: &Groups,
        sections: &mut Sections<'_>,
    ) -> Vec<Inconsistent> {
        let summary = execution.summary(id);
        let parts = self.grouping.parts(summary.view);
        if !parts.is_empty() {
            let node = self.program.heap().node(execution.state(id).node);
            self.with_views.insert(node.method);
        }
        let mut found = Vec::new();
        for part in parts.iter() {
            let group = part.group;
            if self.options.lowest && reported.has(group) {
                continue;
            }
            if self.options.subordinate && !self.grouping.touches(group, summary.view_locked) {
                continue;
            }
            let Some(broken) = self.chain(execution.thread, part.id) else {
                continue;
            };
            if self.options.one_section && sections.is_one(id, group) {
                continue;
            }
            found.push(Inconsistent {
                group,
                part: part.id,
                broken,
            });
        }
        found
    }

    /// The view of a method that accesses this.
    pub fn view(&self, part: PartId) -> Vec<Entry> {
        method_view(&self.grouping.entries(part))
    }

    /// The lock views that are no chain with respect to a method view of a thread; `None` if all are.
    fn chain(&mut self, thread: ThreadId, part: PartId) -> Option<Broken> {
        if let Some(known) = self.decided.get(&(thread, part)) {
            return known.clone();
        }
        let group = self.grouping.group_of(part);
        let view = self.view(part);
        let threads = self.program.threads();
        let mut indices = Vec::new();
        let mut overlaps = Vec::new();
        for index in self.by_group.get(&group).into_iter().flatten() {
            let Some(((_, lock_view), views)) = self.lock_views.get_index(*index) else {
                continue;
            };
            let common = overlap(lock_view, &view);
            if !common.is_empty() {
                let concurrent = |other: &ThreadId| threads.are_concurrent(thread, *other);
                indices.push(*index);
                overlaps.push((common, views.threads.iter().any(concurrent)));
            }
        }
        let broken: Vec<(usize, usize)> = broken_pairs(&overlaps)
            .into_iter()
            .map(|(i, j)| (indices[i], indices[j]))
            .collect();
        let broken = (!broken.is_empty()).then(|| Rc::new(broken));
        self.decided.insert((thread, part), broken.clone());
        broken
    }

    fn stats(&self, candidates: &[Candidate]) -> Stats {
        let classes = self.program.classes();
        let is_app = |method: &MethodId| self.program.is_input(classes.method(*method).class);
        let reported: FxHashSet<MethodId> = candidates.iter().map(|of| of.method).collect();
        let app = |methods: &FxHashSet<MethodId>| methods.iter().filter(|m| is_app(m)).count();
        let (app_reported, app_all) = (app(&reported), app(&self.with_views));
        let parts: FxHashSet<PartId> = candidates.iter().map(|of| of.part).collect();
        let views: FxHashSet<(GroupId, Vec<Entry>)> = (parts.into_iter())
            .map(|part| (self.grouping.group_of(part), self.view(part)))
            .collect();
        let app_views = views
            .iter()
            .filter(|(group, _)| {
                let class = self.grouping.class(*group);
                class.is_none_or(|class| self.program.is_input(class))
            })
            .count();
        Stats {
            threads: self.executions.len(),
            contexts: (self.executions.iter()).map(|of| of.states.len()).sum(),
            lock_views: self.lock_views.len(),
            reports: (app_views, views.len() - app_views),
            app_methods: (app_reported, app_all),
            lib_methods: (
                reported.len() - app_reported,
                self.with_views.len() - app_all,
            ),
            ..Stats::default()
        }
    }
}

/// An inconsistent view of a state.
#[derive(Debug)]
struct Inconsistent {
    group: GroupId,
    part: PartId,
    broken: Broken,
}

/// A set of groups.
#[derive(Debug, Clone)]
struct Groups(Vec<u64>);

impl Groups {
    fn has(&self, group: GroupId) -> bool {
        self.0[group.0 as usize / 64] >> (group.0 % 64) & 1 == 1
    }

    fn add(&mut self, group: GroupId) {
        self.0[group.0 as usize / 64] |= 1 << (group.0 % 64);
    }
}

/// For each component of an execution the groups that it, or something it calls, is reported for.
///
/// What calls something that is not atomic is not atomic either, so it need not be looked at; what calls each other is.
struct Below<'a> {
    execution: &'a Execution,
    component_of: Vec<usize>,
    within: Vec<Groups>,
    none: Groups,
}

impl<'a> Below<'a> {
    fn new(execution: &'a Execution, groups: usize) -> Self {
        Self {
            execution,
            component_of: vec![0; execution.states.len()],
            within: Vec::with_capacity(execution.components.len()),
            none: Groups(vec![0; groups.div_ceil(64)]),
        }
    }

    /// The groups that something called by the next component is reported for.
    fn reach(&mut self, number: usize, component: &[StateId]) -> Groups {
        for id in component {
            self.component_of[id.index()] = number;
        }
        let mut below = self.none.clone();
        let execution = self.execution;
        let calls = (component.iter()).flat_map(|id| &execution.state(*id).calls);
        for (_, callee) in calls {
            let of = self.component_of[callee.index()];
            if of != number {
                let of = &self.within[of].0;
                (below.0.iter_mut().zip(of)).for_each(|(own, other)| *own |= other);
            }
        }
        self.within.push(below.clone());
        below
    }

    fn add(&mut self, number: usize, group: GroupId) {
        self.within[number].add(group);
    }
}

fn callers(execution: &Execution) -> Vec<Vec<StateId>> {
    let mut callers: Vec<Vec<StateId>> = vec![Vec::new(); execution.states.len()];
    for id in execution.ids() {
        for (_, callee) in &execution.state(id).calls {
            callers[callee.index()].push(id);
        }
    }
    callers
}

/// What leads to some states, the nearest first.
fn enclosing(callers: &[Vec<StateId>], of: &[StateId]) -> Vec<StateId> {
    let mut met: FxHashSet<StateId> = FxHashSet::default();
    let mut found = of.to_vec();
    let most = of.len() + MOST_CALLERS;
    let mut at = 0;
    while at < found.len() && found.len() < most {
        for caller in &callers[found[at].index()] {
            if met.insert(*caller) {
                found.push(*caller);
                if found.len() == most {
                    break;
                }
            }
        }
        at += 1;
    }
    found
}

/// Keeps the smallest views of each group.
fn smallest(checker: &Checker<'_>, candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut methods: FxHashMap<GroupId, FxHashMap<PartId, FxHashSet<MethodId>>> =
        FxHashMap::default();
    for candidate in &candidates {
        let of_group = methods.entry(candidate.group).or_default();
        let of_view = of_group.entry(candidate.part).or_default();
        of_view.insert(candidate.method);
    }
    // For each of the smallest views the methods that have larger ones.
    let mut larger: FxHashMap<PartId, Rc<[MethodId]>> = FxHashMap::default();
    for of_group in methods.values() {
        let views: Vec<(PartId, Vec<Entry>)> = (of_group.keys())
            .map(|part| (*part, checker.view(*part)))
            .collect();
        let is_smaller =
            |left: &[Entry], right: &[Entry]| left.len() < right.len() && is_subset(left, right);
        for (part, view) in &views {
            if views.iter().any(|(_, other)| is_smaller(other, view)) {
                continue;
            }
            let hidden: FxHashSet<MethodId> = (views.iter())
                .filter(|(_, other)| is_smaller(view, other))
                .flat_map(|(other, _)| of_group[other].iter().copied())
                .collect();
            let mut hidden: Vec<MethodId> = hidden.into_iter().collect();
            hidden.sort_unstable();
            larger.insert(*part, hidden.into());
        }
    }
    let mut kept = candidates;
    kept.retain_mut(|candidate| match larger.get(&candidate.part) {
        Some(hidden) => {
            candidate.larger = Rc::clone(hidden);
            true
        }
        None => false,
    });
    kept
}
