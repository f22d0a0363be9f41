//! Turns ids into the words of a finding.

use untorn_findings::{Place, Region, Step};
use untorn_model::{Event, EventIndex, LockMode, MethodId, Op, RegionId, SiteId, Tables, ThreadId};
use untorn_trace::Source;

use crate::Context;

/// Names events, places and regions of one trace.
#[derive(Clone, Copy)]
pub struct Describe<'a> {
    pub tables: &'a Tables,
    source: Option<&'a dyn Source>,
}

impl std::fmt::Debug for Describe<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Describe").finish_non_exhaustive()
    }
}

impl<'a> Describe<'a> {
    pub fn new(context: &Context<'a>) -> Self {
        Self {
            tables: context.tables,
            source: context.source,
        }
    }

    /// Without the lines of a text trace: events are counted instead.
    pub fn without_lines(tables: &'a Tables) -> Self {
        Self {
            tables,
            source: None,
        }
    }

    /// The line of a text trace on which an event stands, from 1.
    fn line(&self, index: EventIndex) -> u64 {
        self.source
            .map_or(index.0 + 1, |source| source.line_of(index))
    }
}

impl Describe<'_> {
    /// The region of an execution that `thread` began at event `begin` in place `site`.
    ///
    /// A region without a name is called after its thread and the line of its begin.
    pub fn region(
        &self,
        region: RegionId,
        thread: ThreadId,
        begin: EventIndex,
        site: SiteId,
    ) -> Region {
        let t = self.tables;
        let Some(entry) = t.regions.get(region) else {
            let label = format!("{}@{}", t.thread_name(thread), self.line(begin));
            return self.at(Region::labelled(label), site);
        };
        let site = if entry.site == SiteId::UNKNOWN {
            site
        } else {
            entry.site
        };
        let Some(method) = entry.method.and_then(|id| t.methods.get(id)) else {
            return self.at(Region::labelled(t.text(entry.name)), site);
        };
        let named = Region {
            class: Some(t.class_name(method.class).to_owned()),
            method: t.text(method.name).to_owned(),
            descriptor: Some(t.text(method.descriptor).to_owned()),
            block: t.block_number(entry),
            ..Region::default()
        };
        self.at(named, site)
    }

    fn at(&self, mut region: Region, site: SiteId) -> Region {
        if let Some(place) = self.place(site) {
            region.file = place.file;
            region.line = place.line;
        }
        region
    }

    pub fn place(&self, site: SiteId) -> Option<Place> {
        let site = self.tables.sites.get(site)?;
        let method = site.method.and_then(|id| self.tables.methods.get(id));
        Some(Place {
            class: method.map(|m| self.tables.class_name(m.class).to_owned()),
            method: method.map(|m| self.tables.text(m.name).to_owned()),
            file: site.file.map(|file| self.tables.text(file).to_owned()),
            line: (site.line != 0).then_some(site.line),
        })
    }

    fn method(&self, id: MethodId) -> String {
        match self.tables.methods.get(id) {
            Some(m) => format!(
                "{}.{}",
                self.tables.class_name(m.class),
                self.tables.text(m.name)
            ),
            None => format!("{id:?}"),
        }
    }

    /// The event as step `n` of some evidence.
    pub fn step(&self, n: u32, index: EventIndex, event: &Event) -> Step {
        let t = self.tables;
        let mut op = event.op.kind().name().to_owned();
        let target = match event.op {
            Op::Read(flags, var) | Op::Write(flags, var) | Op::Update(flags, var) => {
                if flags.is_volatile() {
                    op.insert_str(0, "volatile ");
                }
                t.var_name(var)
            }
            Op::Acquire(mode, lock)
            | Op::Release(mode, lock)
            | Op::Reacquire(mode, lock)
            | Op::Rerelease(mode, lock) => {
                if mode == LockMode::Shared {
                    op.push_str(" shared");
                }
                t.lock_name(lock)
            }
            Op::Wait(lock)
            | Op::Wake(lock)
            | Op::Notify(lock)
            | Op::Signal(lock)
            | Op::Await(lock)
            | Op::GoneLock(lock) => t.lock_name(lock),
            Op::Fork(thread) | Op::Join(thread) => t.thread_name(thread),
            Op::Begin(region) | Op::End(region) => self
                .region(region, event.thread, index, event.site)
                .short_name(),
            Op::Enter(method) | Op::Exit(method) => self.method(method),
            Op::GoneObject(object) => t.object_name(object),
        };
        Step {
            n,
            thread: t.thread_name(event.thread),
            event: Some(index.0),
            op,
            target,
            place: self.place(event.site),
            within: None,
            transaction: None,
            locks: Vec::new(),
            stack: Vec::new(),
        }
    }
}
