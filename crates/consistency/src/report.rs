//! The whole-program report: which method views are inconsistent with the lock views, and which of those are worth a word.
//!
//! Paper: sections 2 (method consistency), 3.3 and 4 (what is reported).
//! A candidate is a method in a thread whose view, restricted to a class, overlaps lock views that form no chain; that has a subordinate lock view on those fields; and whose accesses are not one critical section (ours).
//! Of candidates, callers of others and those with larger views are left out.
//!
//! Differences: *lowest* and *smallest* compare methods by what they do to fields of one class, so that a method keeps its finding about one class when something it calls has another about a different class.
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
use crate::groups::{GroupId, Grouping};
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
        variables, sets, ..
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
        candidates = smallest(candidates);
    }
    let mut stats = checker.stats(&candidates);
    stats.variables = variables.len();
    let writer = Writer::new(program, &variables, &executions, &checker, spec);
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
    /// Whose fields.
    pub group: GroupId,
    /// The view.
    pub view: Vec<Entry>,
    /// What it is inconsistent with.
    pub broken: Broken,
    /// Inconsistent methods that were left out for this one, since they have a larger view.
    pub larger: usize,
    /// Inconsistent methods that were left out for this one, since they call it; the nearest first.
    pub callers: Vec<MethodId>,
}

type Decided = FxHashMap<(GroupId, ThreadId, Vec<Entry>), Option<Broken>>;

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
                for group in self.grouping.groups(locked.accesses) {
                    let view = lock_view(&self.grouping.restrict(locked.accesses, group));
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
            let mut found: FxHashMap<StateId, Vec<(GroupId, Vec<Entry>, Broken)>> =
                FxHashMap::default();
            let mut sections = Sections::new(self.program, execution, self.grouping);
            for id in execution.ids() {
                if self.program.heap().node(execution.state(id).node).opaque {
                    continue;
                }
                for candidate in self.inconsistent(execution, id, &mut sections) {
                    found.entry(id).or_default().push(candidate);
                }
            }
            let mut enclosing = None;
            if self.options.lowest {
                let all = found
                    .iter()
                    .flat_map(|(id, of)| of.iter().map(|of| (*id, of.0)));
                enclosing = Some(Enclosing::new(execution, all.collect()));
                keep_lowest(execution, &mut found);
            }
            let mut states: Vec<StateId> = found.keys().copied().collect();
            states.sort_unstable();
            for id in states {
                let method = self.program.heap().node(execution.state(id).node).method;
                for (group, view, broken) in found.remove(&id).unwrap_or_default() {
                    let callers = enclosing.as_ref().map(|of| of.of(id, group));
                    candidates.push(Candidate {
                        method,
                        execution: number,
                        group,
                        view,
                        broken,
                        larger: 0,
                        callers: self.methods(execution, method, callers.unwrap_or_default()),
                    });
                }
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
        sections: &mut Sections<'_>,
    ) -> Vec<(GroupId, Vec<Entry>, Broken)> {
        let summary = execution.summary(id);
        let groups = self.grouping.groups(summary.total);
        if !groups.is_empty() {
            let node = self.program.heap().node(execution.state(id).node);
            self.with_views.insert(node.method);
        }
        let mut found = Vec::new();
        for group in groups {
            let subordinate = self.grouping.touches(group, summary.locked);
            if self.options.subordinate && !subordinate {
                continue;
            }
            let view = method_view(&self.grouping.restrict(summary.total, group));
            let Some(broken) = self.chain(execution.thread, group, &view) else {
                continue;
            };
            if self.options.one_section && sections.is_one(id, group) {
                continue;
            }
            found.push((group, view, broken));
        }
        found
    }

    /// The lock views that are no chain with respect to a method view of a thread; `None` if all are.
    fn chain(&mut self, thread: ThreadId, group: GroupId, view: &[Entry]) -> Option<Broken> {
        let key = (group, thread, view.to_vec());
        if let Some(known) = self.decided.get(&key) {
            return known.clone();
        }
        let threads = self.program.threads();
        let mut indices = Vec::new();
        let mut overlaps = Vec::new();
        for index in self.by_group.get(&group).into_iter().flatten() {
            let Some(((_, lock_view), views)) = self.lock_views.get_index(*index) else {
                continue;
            };
            let common = overlap(lock_view, view);
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
        self.decided.insert(key, broken.clone());
        broken
    }

    fn stats(&self, candidates: &[Candidate]) -> Stats {
        let classes = self.program.classes();
        let is_app = |method: &MethodId| self.program.is_input(classes.method(*method).class);
        let reported: FxHashSet<MethodId> = candidates.iter().map(|of| of.method).collect();
        let app = |methods: &FxHashSet<MethodId>| methods.iter().filter(|m| is_app(m)).count();
        let (app_reported, app_all) = (app(&reported), app(&self.with_views));
        let views: FxHashSet<(GroupId, &[Entry])> = candidates
            .iter()
            .map(|of| (of.group, of.view.as_slice()))
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

type Found = FxHashMap<StateId, Vec<(GroupId, Vec<Entry>, Broken)>>;

/// Who calls whom among candidates about one group.
struct Enclosing<'a> {
    callers: Vec<Vec<StateId>>,
    candidates: FxHashSet<(StateId, GroupId)>,
    execution: &'a Execution,
}

impl<'a> Enclosing<'a> {
    fn new(execution: &'a Execution, candidates: FxHashSet<(StateId, GroupId)>) -> Self {
        let mut callers: Vec<Vec<StateId>> = vec![Vec::new(); execution.states.len()];
        if !candidates.is_empty() {
            for id in execution.ids() {
                for (_, callee) in &execution.state(id).calls {
                    callers[callee.index()].push(id);
                }
            }
        }
        Self {
            callers,
            candidates,
            execution,
        }
    }

    /// The candidates that lead to one, the nearest first.
    fn of(&self, id: StateId, group: GroupId) -> Vec<StateId> {
        let mut met = vec![false; self.execution.states.len()];
        let mut found = vec![id];
        let mut at = 0;
        while at < found.len() && found.len() < MOST_CALLERS {
            for caller in &self.callers[found[at].index()] {
                let new = !std::mem::replace(&mut met[caller.index()], true);
                if new && self.candidates.contains(&(*caller, group)) {
                    found.push(*caller);
                }
            }
            at += 1;
        }
        found
    }
}

/// Drops every candidate that calls another one about the same group, unless they call each other.
fn keep_lowest(execution: &Execution, found: &mut Found) {
    let mut component_of = vec![0usize; execution.states.len()];
    // Groups with candidates in a component or below it.
    let mut within: Vec<Vec<GroupId>> = Vec::with_capacity(execution.components.len());
    for (number, component) in execution.components.iter().enumerate() {
        let mut below: Vec<GroupId> = Vec::new();
        for id in component {
            component_of[id.index()] = number;
        }
        for id in component {
            for (_, callee) in &execution.state(*id).calls {
                let of = component_of[callee.index()];
                if of != number {
                    below.extend_from_slice(&within[of]);
                }
            }
        }
        below.sort_unstable();
        below.dedup();
        let mut all = below.clone();
        for id in component {
            if let Some(candidates) = found.get_mut(id) {
                candidates.retain(|(group, _, _)| below.binary_search(group).is_err());
                all.extend(candidates.iter().map(|(group, _, _)| *group));
            }
        }
        all.sort_unstable();
        all.dedup();
        within.push(all);
    }
}

/// Keeps the smallest views of each group.
fn smallest(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut views: FxHashMap<GroupId, Vec<Vec<Entry>>> = FxHashMap::default();
    for candidate in &candidates {
        let of_group = views.entry(candidate.group).or_default();
        if !of_group.contains(&candidate.view) {
            of_group.push(candidate.view.clone());
        }
    }
    let contains_smaller = |group: GroupId, view: &[Entry]| {
        let smaller = |other: &Vec<Entry>| other.len() < view.len() && is_subset(other, view);
        views[&group].iter().any(smaller)
    };
    let (mut kept, dropped): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| !contains_smaller(candidate.group, &candidate.view));
    for candidate in &mut kept {
        let larger: FxHashSet<MethodId> = dropped
            .iter()
            .filter(|of| of.group == candidate.group && is_subset(&candidate.view, &of.view))
            .map(|of| of.method)
            .collect();
        candidate.larger = larger.len();
    }
    kept
}
