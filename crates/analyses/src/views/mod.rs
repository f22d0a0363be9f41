//! # views
//!
//! Finds fields that one thread uses together under a lock and another thread apart: high-level data races.
//!
//! *Paper.* View consistency (001, sections 3.1 and 3.2).
//! What a thread accesses in one critical section is a *view*.
//! Against a *maximal view* of another thread, the views of a thread must form a *chain*: of any two, what they have in common with the maximal view, one contains the other.
//! Two that do not *diverge*.
//!
//! ```text
//! T1|acq(c)  T1|w(c.x)  T1|w(c.y)  T1|rel(c)                            T1 uses {x, y} as one
//! T2|acq(c)  T2|r(c.x)  T2|rel(c)   T2|acq(c)  T2|r(c.y)  T2|rel(c)     T2 uses {x} and {y}: they diverge
//! ```
//!
//! *Why it matters.* Every single access is locked, so no race detector objects, yet T2 may see the x of one point and the y of another.
//!
//! *Where we differ.*
//! Fields that nobody writes once a second thread has accessed them are left out: constants, as the paper assumes.
//! A critical section that lies within one on lock *l* of the same thread does not count against a maximal view that was generated under *l*: its fields are in the view of the enclosing section, and that one counts.
//! So two parts of one execution of an enclosing block do not diverge.
//! Waiting ends a critical section and waking begins one; shared holds make views as exclusive ones do; re-entrant holds belong to the outermost.
//! A finding is about the innermost region of which one execution generated the diverging views, or about the fields if there is none; instances of a class are reported once.
//!
//! *Guarantee.* May miss: fields that belong together and that nobody ever uses together, and a non-atomic use of a single field, such as a counter read and written back in two sections.
//! May over-report: fields that one section happens to use together.
//!
//! *Cost.* O(events) for the run and at most O(D²) set operations at its end, for D distinct views; views without a field in common are never compared.
//! Where a program uses ever new sets of the same fields, D grows with the run: after half a billion steps the maximal views that are left are not compared, and `--stats` counts them as `not_compared`.
//! One of each sort, instances aside, is compared first.

mod catalog;
mod consistency;
mod report;
mod sections;
mod together;

use untorn_model::conflict::AccessKind;
use untorn_model::{Event, EventIndex, Kinds, Op, Tables, ThreadId, VarId};
use untorn_trace::{Batch, Error};

use crate::lock_sets::LockSets;
use crate::locks_held::LockOp;
use crate::stacks::{ContextId, Stacks};
use crate::symbols::Symbol;
use crate::{Analysis, Context, Describe, Outcome};

use catalog::Catalog;
use consistency::Compared;
use report::Reporter;
use sections::{Access, Sections};
use together::Together;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// So many steps are taken at most to compare views.
    ///
    /// A program that uses ever new sets of the same fields under a lock has as many views as critical sections, and comparing all of them would never end.
    pub most_work: u64,
}

impl Default for Options {
    fn default() -> Self {
        // Some seconds.
        Self { most_work: 1 << 29 }
    }
}

/// How far a location is shared.
#[derive(Clone, Copy, Debug)]
struct OfVar {
    /// The critical section that recorded it last.
    section: u64,
    first: ThreadId,
    state: State,
    written: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Untouched,
    Local,
    Shared,
    /// Shared, and written since.
    Variable,
}

/// The views analysis.
#[derive(Debug)]
pub struct Views {
    options: Options,
    vars: Vec<OfVar>,
    sections: Sections,
    sets: LockSets,
    stacks: Stacks,
    catalog: Catalog,
    together: Together,
}

impl Views {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            vars: Vec::new(),
            sections: Sections::default(),
            sets: LockSets::default(),
            stacks: Stacks::without_sites(),
            catalog: Catalog::default(),
            together: Together::default(),
        }
    }

    fn grow(&mut self, tables: &Tables) {
        if self.vars.len() < tables.vars().len() {
            let untouched = OfVar {
                section: 0,
                first: ThreadId(0),
                state: State::Untouched,
                written: false,
            };
            self.vars.resize(tables.vars().len(), untouched);
        }
        self.sections.grow(tables.threads.len());
        self.stacks.grow(tables.threads.len());
        self.together.grow(tables.threads.len());
    }

    #[inline]
    fn access(&mut self, thread: ThreadId, access: Access, writes: bool) {
        let this = &mut self.vars[access.var.index()];
        this.share(thread, writes);
        self.sections.access(thread, access, &mut this.section);
    }

    fn close(&mut self, thread: ThreadId, op: LockOp) {
        let LockOp::GiveUp(mode, lock) = op else {
            return;
        };
        let here = self.stacks.current(thread);
        if let Some(closed) = (self.sections).close(thread, mode, lock, &mut self.sets) {
            let context = self.stacks.common(closed.context, here);
            let enclosing = closed.enclosing;
            let seen = (self.catalog).record(thread, lock, enclosing, context, closed.accesses);
            self.together.view(thread, seen);
        }
    }

    fn end_region(&mut self, index: EventIndex, event: &Event) {
        let region = self
            .stacks
            .innermost_region(self.stacks.current(event.thread));
        self.together.end(event.thread, region);
        self.stacks.follow(index, event);
    }

    /// Regions that the end of the trace cuts off end there.
    fn close_regions(&mut self) {
        for thread in self.stacks.threads() {
            let mut region = self.stacks.innermost_region(self.stacks.current(thread));
            while region != ContextId::ROOT {
                self.together.end(thread, region);
                region = self.stacks.innermost_region(self.stacks.parent(region));
            }
        }
    }

    /// Whether somebody writes a location once two threads access it.
    ///
    /// Of locations that share storage it is not known which access came first: a write to one of them is enough.
    fn is_variable(&self, tables: &Tables, var: VarId) -> bool {
        let this = &self.vars[var.index()];
        let with = |other: &OfVar| match (this.state, other.state) {
            (State::Untouched, _) | (_, State::Untouched) => false,
            (State::Local, State::Local) if this.first == other.first => false,
            _ => this.written || other.written,
        };
        this.state == State::Variable
            || (tables.overlapping(var).iter()).any(|other| with(&self.vars[other.index()]))
    }
}

impl OfVar {
    #[inline]
    fn share(&mut self, thread: ThreadId, writes: bool) {
        self.written |= writes;
        match self.state {
            State::Variable => return,
            State::Untouched => {
                self.first = thread;
                self.state = State::Local;
            }
            State::Local if self.first != thread => self.state = State::Shared,
            State::Local | State::Shared => {}
        }
        if writes && self.state == State::Shared {
            self.state = State::Variable;
        }
    }
}

impl Analysis for Views {
    fn name(&self) -> &'static str {
        report::NAME
    }

    fn subscribes(&self) -> Kinds {
        (Kinds::ACCESSES.union(Kinds::LOCKS))
            .union(Kinds::REGIONS)
            .union(Kinds::CALLS)
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        let tables = context.tables;
        self.grow(tables);
        for (index, event) in batch.indexed() {
            match event.op {
                Op::Read(_, var) | Op::Write(_, var) | Op::Update(_, var) => {
                    let access = Access {
                        var,
                        site: event.site,
                    };
                    let writes = event.op.access_kind() == Some(AccessKind::Write);
                    self.access(event.thread, access, writes);
                }
                Op::Begin(_) => {
                    self.together.begin(event.thread);
                    self.stacks.follow(index, event);
                }
                Op::End(_) => self.end_region(index, event),
                Op::Enter(_) | Op::Exit(_) => self.stacks.follow(index, event),
                op => match LockOp::of(op) {
                    Some(LockOp::Take(mode, lock)) => {
                        let context = self.stacks.current(event.thread);
                        let sets = &mut self.sets;
                        (self.sections).open(event.thread, mode, lock, context, sets);
                    }
                    Some(op) => self.close(event.thread, op),
                    None => {}
                },
            }
        }
        Ok(())
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        // A section that the end of the trace cuts off is closed there.
        for (thread, mode, lock) in self.sections.still_open() {
            self.close(thread, LockOp::GiveUp(mode, lock));
        }
        self.close_regions();
        let views =
            (self.catalog).project(context.tables, |var| self.is_variable(context.tables, var));
        let describe = Describe::new(context);
        let mut reporter = Reporter::new(describe, &self.stacks, &views);
        let together = self.together.index();
        let compared = Compared {
            views: &views,
            sets: &self.sets,
            stacks: &self.stacks,
            together: &together,
            most_work: self.options.most_work,
        };
        let sort = |vars: &[VarId]| Symbol::of_all(context.tables, vars);
        let counts = consistency::compare(compared, sort, &mut |conflict| reporter.add(conflict));
        reporter.finish(counts, outcome);
        Ok(())
    }
}
