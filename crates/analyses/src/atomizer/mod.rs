//! # atomizer
//!
//! Predicts torn regions from one run, also if nothing went wrong in it: a region is suspected when its steps cannot be reduced to one.
//!
//! *Paper.* Atomizer (000, sections 3 and 4), on Lipton's reduction.
//! A region is atomic if it first only does what could also be done later (takes locks), then at most one thing that cannot be moved, and then only what could also be done earlier (gives locks up).
//! Accesses that a lock protects can be moved both ways.
//! The first step that cannot be done later is the *commit point*; a step after it that cannot be done earlier is the violation.
//! The report shows the entry of the region, its commit point and the violation, each with its place, call stack and locks held.
//!
//! ```text
//! T1|begin(append)   T1|acq(sb)  T1|r(count)  T1|rel(sb)      commits here
//!                    T1|acq(sb)  T1|r(chars)  T1|rel(sb)      violation: the length read above may be stale
//! T1|end(append)
//! ```
//!
//! *Modes.* [`Mode`] chooses the figure of the paper whose rules decide, [`Refinements`] which false alarms are removed, [`Assumptions`](crate::assumptions::Assumptions) what to take for granted.
//! [`Ablation`] runs all sets of refinements from none to all in one pass.
//! On the command line these are `--atomizer MODE`, `--refinements LIST` and `--atomizer ablation`, which prints a table of what each refinement removes.
//!
//! *Where we differ.*
//! Each active block has a phase of its own, and one step can violate several; the paper's figures have one phase for the outermost block.
//! Each violated execution counts, also of a region that was reported before.
//! A lock held shared protects reads.
//! An update is one step that reads and writes; a volatile access is data as any other; a 64-bit access that is not volatile and not protected is two steps.
//! Waiting gives the lock up and takes it back.
//! A semaphore is a lock for as long as one thread at a time has a permit and gives it back itself.
//! Forks, joins, notifications, latches and other library calls can be moved, as all that the paper's tool does not instrument.
//! The states of section 4.1 count in all modes unless [`Options::shared_from_the_start`] leaves them out; after an error of the modes declared and strict the run goes on as in Figure 14.
//! An assumed-atomic method is one step that cannot be moved, at its entry; what happens inside, nested regions included, only feeds the locksets.
//!
//! *Guarantee.* A suspicion, never a proof.
//! May miss: an access that was taken for protected until another thread showed that it is not (the next execution is reported), and what the thread-local states forgive.
//! Declared and strict with `shared_from_the_start` and no refinement miss nothing of the run they saw.
//! May over-report: accesses that fork, join or a queue order, and double-checked locking.

mod ablation;
mod lock_movers;
mod options;
mod phases;
mod report;

use std::collections::BTreeMap;

use serde_json::json;
use untorn_findings::{Evidence, Finding, Kind, Race, Verdict};
use untorn_model::conflict::AccessKind;
use untorn_model::{AccessFlags, Event, EventIndex, Kinds, Op, Tables, VarId};
use untorn_trace::{Batch, Error};

use crate::assumptions::{Assumed, Resolved};
use crate::locks_held::{LockOp, LocksHeld};
use crate::lockset::{Kept, Protection, Raced, Sharing, counts};
use crate::permits::Permits;
use crate::stacks::Stacks;
use crate::symbols::Symbol;
use crate::{Analysis, Context, Describe, Outcome};

pub use ablation::{Ablation, AblationRow};
use lock_movers::LockMovers;
pub use options::{Mode, Options, Refinements};
use phases::{Mark, Mover, Phases};
use report::Reports;

const NAME: &str = "atomizer";

#[derive(Clone, Debug, Default)]
struct OfThread {
    phases: Phases,
    /// The depth of the call stack at which an assumed method was entered; 0 outside of such methods.
    assumed_from: u32,
}

/// How an access is judged.
enum Judged {
    Mover,
    NonMover,
    /// The discipline of the modes declared and strict forbids it.
    Wrong,
}

/// The Atomizer.
#[derive(Clone, Debug)]
pub struct Atomizer {
    mode: Mode,
    refinements: Refinements,
    assumed: Resolved,
    locks: LocksHeld,
    permits: Permits,
    sharing: Sharing,
    lock_movers: LockMovers,
    stacks: Stacks,
    threads: Vec<OfThread>,
    reports: Reports,
    /// Forbidden accesses outside of all blocks, the first of each field.
    undisciplined: BTreeMap<Symbol, (Kept, u64)>,
    /// Fields of objects that are gone and raced, with whether an access was part of a violation.
    raced: BTreeMap<Symbol, bool>,
}

impl Atomizer {
    pub fn new(options: Options) -> Self {
        Self {
            mode: options.mode,
            refinements: options.refinements,
            assumed: Resolved::new(options.assumptions),
            locks: LocksHeld::default(),
            permits: Permits::default(),
            sharing: Sharing::new(options.shared_from_the_start, false),
            lock_movers: LockMovers::new(options.refinements),
            stacks: Stacks::default(),
            threads: Vec::new(),
            reports: Reports::default(),
            undisciplined: BTreeMap::new(),
            raced: BTreeMap::new(),
        }
    }

    /// How many regions are reported, and how many of their executions were violated.
    pub fn warnings(&self) -> (usize, u64) {
        (self.reports.regions(), self.reports.occurrences())
    }

    fn mark(&self, index: EventIndex, event: &Event) -> Mark {
        Mark {
            index,
            event: *event,
            context: self.stacks.current(event.thread),
            held: self.locks.held(event.thread).any,
        }
    }

    fn is_assumed(&self, event: &Event) -> bool {
        self.threads[event.thread.index()].assumed_from != 0
    }

    /// Applies a step to the phases of the thread's active blocks.
    #[inline]
    fn step(&mut self, mover: Mover, index: EventIndex, event: &Event) {
        let thread = &self.threads[event.thread.index()];
        if thread.phases.is_outside() || thread.assumed_from != 0 {
            return;
        }
        if matches!(mover, Mover::Right | Mover::Non) && thread.phases.has_committed() {
            self.violate(index, event);
        }
        if matches!(mover, Mover::Left | Mover::Non) {
            self.commit(index, event);
        }
    }

    #[inline]
    fn commit(&mut self, index: EventIndex, event: &Event) {
        if self.threads[event.thread.index()].phases.is_pending() {
            let mark = self.mark(index, event);
            self.threads[event.thread.index()].phases.commit(mark);
        }
    }

    fn violate(&mut self, index: EventIndex, event: &Event) {
        if let Some((var, _)) = event.op.access() {
            self.sharing.mark_harmful(var);
        }
        let mark = self.mark(index, event);
        for block in self.threads[event.thread.index()].phases.violate() {
            if let Some((var, _)) = block.commit.event.op.access() {
                self.sharing.mark_harmful(var);
            }
            self.reports.add(block, &mark);
        }
    }

    /// A step that commits and violates at once: two steps that cannot be moved, or one that is forbidden.
    fn commit_and_violate(&mut self, index: EventIndex, event: &Event) {
        let thread = &self.threads[event.thread.index()];
        if thread.phases.is_outside() || thread.assumed_from != 0 {
            return;
        }
        self.commit(index, event);
        self.violate(index, event);
    }

    #[inline]
    fn access(&mut self, tables: &Tables, index: EventIndex, event: &Event, var: VarId) {
        if self.assumed.is_silenced(event.site) {
            return;
        }
        let held = self.locks.held(event.thread);
        let sets = &mut self.locks.sets;
        let protection = (self.sharing).access(tables, sets, held, index, event, var);
        if !protection.needed || self.assumed.is_guarded(var) {
            return;
        }
        match self.judge(tables, protection, event, var) {
            Judged::Mover => {}
            Judged::NonMover if takes_two_steps(event) => self.commit_and_violate(index, event),
            Judged::NonMover => self.step(Mover::Non, index, event),
            Judged::Wrong => self.wrong(tables, index, event, var),
        }
    }

    /// The premises of the access rules, by mode.
    #[inline]
    fn judge(&self, tables: &Tables, by: Protection, event: &Event, var: VarId) -> Judged {
        let reads = event.op.access_kind() == Some(AccessKind::Read);
        let protected = match self.mode {
            // INS3 READ, INS3 WRITE
            Mode::Full if self.refinements.write_protected_data && reads => by.by_write_set,
            // INS2 ACCESS
            Mode::Full | Mode::Relaxed => by.by_access_set,
            Mode::Strict if by.by_access_set => true,
            // WRONG2 RACE of Figure 11
            Mode::Strict => return Judged::Wrong,
            Mode::Declared => match self.assumed.guard(tables, var) {
                None => false,
                Some(guard) => {
                    let held = self.locks.held(event.thread);
                    let held = if reads { held.any } else { held.exclusive };
                    let holds = guard.is_some_and(|lock| self.locks.sets.contains(held, lock));
                    // INS ACCESS PROTECTED, WRONG ACCESS PROTECTED
                    return if holds { Judged::Mover } else { Judged::Wrong };
                }
            },
        };
        if protected {
            Judged::Mover
        } else {
            Judged::NonMover
        }
    }

    fn wrong(&mut self, tables: &Tables, index: EventIndex, event: &Event, var: VarId) {
        if !self.threads[event.thread.index()].phases.is_outside() {
            return self.commit_and_violate(index, event);
        }
        if self.is_assumed(event) {
            return;
        }
        let kept = Kept {
            index,
            event: *event,
        };
        let symbol = Symbol::of(tables, var);
        (self.undisciplined.entry(symbol))
            .and_modify(|(_, times)| *times += 1)
            .or_insert((kept, 1));
    }

    fn lock(&mut self, op: LockOp, index: EventIndex, event: &Event) {
        // The lock is no protection of itself: what counts is held before it is taken, or after it is given up.
        let (lock, mover, others) = match op {
            LockOp::Take(_, lock) => {
                let others = self.locks.held(event.thread).exclusive;
                self.locks.apply(event.thread, op);
                (lock, Mover::Right, others)
            }
            LockOp::GiveUp(_, lock) => {
                self.locks.apply(event.thread, op);
                let others = self.locks.held(event.thread).exclusive;
                (lock, Mover::Left, others)
            }
        };
        if self.assumed.is_silenced(event.site) {
            return;
        }
        let sets = &mut self.locks.sets;
        if !(self.lock_movers).operate(sets, event.thread, lock, others) {
            self.step(mover, index, event);
        }
    }

    fn reentrant(&mut self, mover: Mover, index: EventIndex, event: &Event) {
        if !self.refinements.reentrant && !self.assumed.is_silenced(event.site) {
            self.step(mover, index, event);
        }
    }

    fn enter(&mut self, index: EventIndex, event: &Event) {
        let assumed = match event.op {
            Op::Begin(region) => self.assumed.of_region(region),
            Op::Enter(method) => self.assumed.of_method(method),
            _ => Assumed::Nothing,
        };
        if assumed == Assumed::Atomic {
            self.step(Mover::Non, index, event);
        }
        self.stacks.follow(index, event);
        if matches!(event.op, Op::Begin(_)) {
            let entry = self.mark(index, event);
            self.threads[event.thread.index()].phases.begin(entry);
        }
        if assumed != Assumed::Nothing && !self.is_assumed(event) {
            let depth = self.stacks.depth(self.stacks.current(event.thread));
            self.threads[event.thread.index()].assumed_from = depth;
        }
    }

    fn leave(&mut self, index: EventIndex, event: &Event) {
        self.stacks.follow(index, event);
        let depth = self.stacks.depth(self.stacks.current(event.thread));
        let thread = &mut self.threads[event.thread.index()];
        if matches!(event.op, Op::End(_)) {
            thread.phases.end();
        }
        if depth < thread.assumed_from {
            thread.assumed_from = 0;
        }
    }

    /// Forgets what is gone; what was reported or raced is kept.
    fn forget(&mut self, gone: &[Event], tables: &Tables) {
        let (fields, assumed) = (&mut self.raced, &self.assumed);
        (self.sharing).forget_gone(gone, tables, |raced| note(fields, assumed, tables, &raced));
        self.permits.forget_gone(gone, &mut self.locks);
        self.locks.forget_gone(gone);
        if let Some(mut without) = self.locks.sets.without(gone) {
            self.sharing.rename(&mut without);
            self.lock_movers.forget_gone(gone, &mut without);
        }
    }

    /// Racy fields whose accesses were part of no violation.
    fn harmless(&mut self, tables: &Tables) -> Vec<String> {
        for raced in self.sharing.take_racy() {
            note(&mut self.raced, &self.assumed, tables, &raced);
        }
        (self.raced.iter())
            .filter(|(_, harmful)| !**harmful)
            .map(|(symbol, _)| symbol.name(tables))
            .collect()
    }

    fn undisciplined(&self, tables: &Tables) -> impl Iterator<Item = Finding> {
        self.undisciplined
            .iter()
            .map(move |(symbol, (kept, times))| {
                let step = Describe::without_lines(tables).step(1, kept.index, &kept.event);
                let name = symbol.name(tables);
                let evidence = Evidence {
                    races: vec![Race {
                        variable: step.target.clone(),
                        benign_candidate: false,
                        accesses: vec![step],
                    }],
                    ..Evidence::default()
                };
                let mut finding = Finding::new(
                    NAME,
                    Kind::Race,
                    Verdict::Suspected,
                    symbol.region(tables),
                    format!("{name} is accessed without the lock that has to protect it"),
                    evidence,
                );
                finding.occurrences = *times;
                finding
            })
    }
}

fn note(fields: &mut BTreeMap<Symbol, bool>, assumed: &Resolved, tables: &Tables, raced: &Raced) {
    if !assumed.is_guarded(raced.var) {
        *fields.entry(Symbol::of(tables, raced.var)).or_insert(false) |= raced.harmful;
    }
}

/// A 64-bit access that is not volatile may be torn by the memory model; an update is one step by definition.
fn takes_two_steps(event: &Event) -> bool {
    match event.op {
        Op::Read(flags, _) | Op::Write(flags, _) => {
            flags.contains(AccessFlags::WIDE) && !flags.is_volatile()
        }
        _ => false,
    }
}

impl Analysis for Atomizer {
    fn name(&self) -> &'static str {
        NAME
    }

    fn subscribes(&self) -> Kinds {
        let kinds = (Kinds::ACCESSES.union(Kinds::LOCKS))
            .union(Kinds::SIGNALS)
            .union(Kinds::REGIONS)
            .union(Kinds::CALLS);
        if self.refinements.reentrant {
            kinds
        } else {
            kinds.union(Kinds::REENTRANT)
        }
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        let tables = context.tables;
        let threads = tables.threads.len();
        self.locks.grow(threads, tables.locks.len());
        self.sharing.grow(tables);
        self.assumed.grow(tables);
        self.lock_movers.grow(tables.locks.len());
        self.stacks.grow(threads);
        if self.threads.len() < threads {
            self.threads.resize(threads, OfThread::default());
        }
        for part in batch.parts() {
            if part.is_gone() {
                self.forget(part.events, tables);
                continue;
            }
            for (index, event) in part.indexed() {
                match event.op {
                    Op::Read(_, var) | Op::Write(_, var) | Op::Update(_, var) => {
                        self.access(tables, index, event, var);
                    }
                    Op::Reacquire(..) => self.reentrant(Mover::Right, index, event),
                    Op::Rerelease(..) => self.reentrant(Mover::Left, index, event),
                    Op::Begin(_) | Op::Enter(_) => self.enter(index, event),
                    Op::End(_) | Op::Exit(_) => self.leave(index, event),
                    _ => {
                        if let Some(op) = self.permits.lock_op(event, tables) {
                            self.lock(op, index, event);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(self.clone()))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let tables = context.tables;
        let describe = Describe::new(context);
        let sets = &self.locks.sets;
        (outcome.findings).extend(self.reports.findings(describe, &self.stacks, sets));
        outcome.findings.extend(self.undisciplined(tables));
        let mut stats = counts(&self.locks, &self.sharing);
        stats.insert("regions_reported".to_owned(), self.reports.regions().into());
        stats.insert(
            "executions_violated".to_owned(),
            self.reports.occurrences().into(),
        );
        stats.insert(
            "racy_fields_without_harm".to_owned(),
            json!(self.harmless(tables)),
        );
        outcome.stats.insert(NAME.to_owned(), stats.into());
        Ok(())
    }
}
