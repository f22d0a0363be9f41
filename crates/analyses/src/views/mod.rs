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
//! Fields that one thread alone uses, and constants, are left out, as the paper assumes.
//! A constant is a field that nobody writes after the construction of its object, whoever accesses it first.
//! What is written in a constructor or class initializer before another thread has accessed the field belongs to the construction; where the trace does not say in which method a write is, so does a write outside of critical sections before another thread has accessed the field.
//! A critical section that lies within one on lock *l* of the same thread does not count against a maximal view that was generated under *l*: its fields are in the view of the enclosing section, and that one counts.
//! So two parts of one execution of an enclosing block do not diverge.
//! Waiting ends a critical section and waking begins one; shared holds make views as exclusive ones do; re-entrant holds belong to the outermost.
//! Once the program has dropped an object, the views that have a field of it are compared with those of the time and forgotten: so memory grows with the objects that live, not with those that ever did.
//! A finding is about the innermost region of which one execution generated the diverging views, or about the fields if there is none; instances of a class are reported once.
//!
//! *Guarantee.* May miss: fields that belong together and that nobody ever uses together, and a non-atomic use of a single field, such as a counter read and written back in two sections.
//! Of a dropped object, also a conflict that shows only in what comes after it.
//! May over-report: fields that one section happens to use together.
//!
//! *Cost.* O(events) for the run and at most O(D²) set operations at its end, for D distinct views; views without two fields in common are never compared, and threads with the same views are compared once.
//! Where a program uses ever new sets of the same fields, D grows with the run: after sixty-four steps for each event, and some millions in any case, the maximal views that are left are compared all at once, by the pairs of fields that they have.
//! That finds the same diverging views, and counts fewer threads that have them.
//! One of each sort, instances aside, is compared by itself first.
//! A thread that has itself thousands of distinct views may be too much for that, too: `--stats` counts the maximal views that it was not compared with as `not_compared`.

mod catalog;
mod consistency;
mod overlaps;
mod projection;
mod report;
mod rest;
mod sections;
mod together;

use untorn_model::conflict::AccessKind;
use untorn_model::{Event, EventIndex, Kinds, Op, SiteId, Tables, ThreadId, VarId};
use untorn_trace::{Batch, Error};

use crate::lock_sets::LockSets;
use crate::locks_held::LockOp;
use crate::stacks::{ContextId, Stacks};
use crate::symbols::Symbol;
use crate::{Analysis, Context, Describe, Outcome};

use catalog::{Catalog, Vars};
use consistency::{Compared, Counts};
use projection::Projection;
use report::{Found, Reporter};
use sections::{Access, Sections};
use together::Together;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// So many steps are taken at most to compare views, and fewer after a short run: see [`Options::work_after`].
    ///
    /// A program that uses ever new sets of the same fields under a lock has as many views as critical sections, and comparing all of them would never end.
    pub most_work: u64,
    /// So many steps are then taken to compare the maximal views that are left all at once.
    pub most_work_together: u64,
    /// The same for each time that objects are gone.
    pub most_work_between: u64,
}

impl Default for Options {
    fn default() -> Self {
        // Some seconds.
        Self {
            most_work: 1 << 29,
            most_work_together: 1 << 28,
            most_work_between: 1 << 21,
        }
    }
}

impl Options {
    /// Comparing may take about as long as reading so many events did.
    fn work_after(self, events: u64) -> u64 {
        const LEAST: u64 = 1 << 22;
        self.most_work.min(LEAST.max(events.saturating_mul(64)))
    }
}

/// How far a location is shared, and whether it is a constant.
#[derive(Clone, Copy, Debug)]
struct OfVar {
    /// The critical section that recorded it last.
    section: u64,
    first: ThreadId,
    state: State,
    /// Written at all.
    written: bool,
    /// Written after the construction of its object.
    changed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Untouched,
    Local,
    Shared,
}

/// What a trace says of the method that a place is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    Unknown,
    Constructor,
    Other,
}

/// The views analysis.
#[derive(Clone, Debug)]
pub struct Views {
    options: Options,
    events: u64,
    vars: Vec<OfVar>,
    /// By site.
    code: Vec<Code>,
    sections: Sections,
    sets: LockSets,
    stacks: Stacks,
    catalog: Catalog,
    together: Together,
    found: Found,
}

impl Views {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            events: 0,
            vars: Vec::new(),
            code: Vec::new(),
            sections: Sections::default(),
            sets: LockSets::default(),
            stacks: Stacks::without_sites(),
            catalog: Catalog::default(),
            together: Together::default(),
            found: Found::default(),
        }
    }

    fn grow(&mut self, tables: &Tables) {
        if self.vars.len() < tables.vars().len() {
            self.vars.resize(tables.vars().len(), OfVar::UNTOUCHED);
        }
        let known = self.code.len() as u32..tables.sites.len() as u32;
        (self.code).extend(known.map(|site| Code::of(tables, SiteId(site))));
        self.sections.grow(tables.threads.len());
        self.stacks.grow(tables.threads.len());
        self.together.grow(tables.threads.len());
    }

    #[inline]
    fn access(&mut self, thread: ThreadId, access: Access, writes: bool) {
        let this = &mut self.vars[access.var.index()];
        this.share(thread);
        if writes && !this.changed {
            let code = self.code.get(access.site.index()).copied();
            let constructs = match code.unwrap_or(Code::Unknown) {
                Code::Constructor => true,
                Code::Unknown => !self.sections.any_open(thread),
                Code::Other => false,
            };
            this.written = true;
            this.changed = !constructs || this.state == State::Shared;
        }
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

    fn take(&mut self, batch: &Batch<'_>) {
        self.events += batch.events.len() as u64;
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

    /// Compares views, all or those that could conflict with one that has a location which is gone.
    fn compare(&mut self, context: &Context<'_>, gone: Option<&Vars>) {
        let tables = context.tables;
        // Who conflicts with a view has a field of it, or has one with who compares the two.
        let near = gone.and_then(|gone| self.catalog.around(gone));
        let near = near.and_then(|near| self.catalog.around(&near));
        if gone.is_some() && near.is_none() {
            return;
        }
        let among = near.as_ref().filter(|_| !tables.any_overlaps());
        let is_variable = |var| self.is_variable(tables, var);
        let projection = Projection::new(&self.catalog, tables, among, is_variable);
        let mut reporter = Reporter::new(Describe::new(context), &self.stacks, &projection);
        let together = self.together.index();
        let compared = Compared {
            projection: &projection,
            sets: &self.sets,
            stacks: &self.stacks,
            together: &together,
            most_work: match gone {
                Some(_) => self.options.most_work_between,
                None => self.options.work_after(self.events),
            },
            most_work_together: match gone {
                Some(_) => self.options.most_work_between,
                None => self.options.most_work_together,
            },
        };
        let sort = |vars: &[VarId]| Symbol::of_all(tables, vars);
        let is_last = |view: usize| match gone {
            Some(gone) => projection.vars(view).iter().any(|var| gone.contains(var)),
            None => true,
        };
        let counts = consistency::compare(compared, sort, &mut |conflict| {
            // What stays will be compared again.
            let [one, other] = conflict.diverging;
            if is_last(conflict.maximal) || is_last(one) || is_last(other) {
                reporter.add(conflict);
            }
        });
        let last = (0..projection.views.len()).filter(|&view| is_last(view));
        self.found.counts += Counts {
            views: (last.map(|view| projection.threads(view).len() as u64)).sum(),
            ..counts
        };
        reporter.finish(&mut self.found);
    }

    /// Compares what is gone a last time, and forgets it.
    fn forget(&mut self, gone: &[Event], context: &Context<'_>) {
        let objects = gone.iter().filter_map(|event| match event.op {
            Op::GoneObject(object) => Some(object),
            _ => None,
        });
        let vars: Vec<VarId> = (objects)
            .flat_map(|object| context.tables.vars_of(object))
            .collect();
        // What no section has recorded is in no view.
        let recorded = |var: &VarId| self.vars[var.index()].section != 0;
        let in_views: Vars = vars.iter().copied().filter(recorded).collect();
        if !in_views.is_empty() {
            self.compare(context, Some(&in_views));
        }
        let mut without = self.sets.without(gone);
        if !in_views.is_empty() || without.is_some() {
            self.sections.forget(|var| in_views.contains(&var));
            let renamed = self.catalog.forget(&in_views, without.as_mut());
            self.together.rename(&renamed);
        }
        for var in vars {
            self.vars[var.index()] = OfVar::UNTOUCHED;
        }
    }

    /// Whether two threads access a location and somebody writes it after its construction.
    ///
    /// Of locations that share storage it is not known which access came first: a write to one of them is enough.
    fn is_variable(&self, tables: &Tables, var: VarId) -> bool {
        let this = &self.vars[var.index()];
        let with = |other: &OfVar| match (this.state, other.state) {
            (State::Untouched, _) | (_, State::Untouched) => false,
            (State::Local, State::Local) if this.first == other.first => false,
            _ => this.written || other.written,
        };
        (this.state == State::Shared && this.changed)
            || (tables.overlapping(var).iter()).any(|other| with(&self.vars[other.index()]))
    }
}

impl OfVar {
    const UNTOUCHED: Self = Self {
        section: 0,
        first: ThreadId(0),
        state: State::Untouched,
        written: false,
        changed: false,
    };

    #[inline]
    fn share(&mut self, thread: ThreadId) {
        match self.state {
            State::Untouched => {
                self.first = thread;
                self.state = State::Local;
            }
            State::Local if self.first != thread => self.state = State::Shared,
            State::Local | State::Shared => {}
        }
    }
}

impl Code {
    fn of(tables: &Tables, site: SiteId) -> Self {
        let method = tables.sites.get(site).and_then(|site| site.method);
        match method.and_then(|method| tables.methods.get(method)) {
            None => Self::Unknown,
            Some(method) if matches!(tables.text(method.name), "<init>" | "<clinit>") => {
                Self::Constructor
            }
            Some(_) => Self::Other,
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
        for part in batch.parts() {
            if part.is_gone() {
                self.forget(part.events, context);
            } else {
                self.take(&part);
            }
        }
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(self.clone()))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        // A section that the end of the trace cuts off is closed there.
        for (thread, mode, lock) in self.sections.still_open() {
            self.close(thread, LockOp::GiveUp(mode, lock));
        }
        self.close_regions();
        self.compare(context, None);
        self.found.finish(outcome);
        Ok(())
    }
}
