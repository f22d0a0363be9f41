//! Writes events as a text trace.

use std::io::Write;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use untorn_model::{AccessFlags, Event, LockMode, Op, RegionId, RegionKind, SiteId, Tables};

use super::grammar;
use crate::Error;

/// Writes a text trace line by line.
///
/// Names that text cannot hold are changed, and names that two ids share get a number, so that reading gives the same events back.
#[derive(Debug)]
pub struct TextWriter<W: Write> {
    out: W,
    file: String,
    lines: Vec<u8>,
    threads: Written,
    vars: Written,
    locks: Written,
    signals: Written,
    regions: Written,
    methods: Written,
    sites: Written,
}

/// How the ids of one namespace are spelled.
#[derive(Debug, Default)]
struct Written {
    /// By id; empty when not asked for yet.
    names: Vec<Box<str>>,
    taken: HashSet<Box<str>, FxBuildHasher>,
}

impl Written {
    fn name(&mut self, id: u32, unique: bool, make: impl FnOnce() -> String) -> &str {
        let index = id as usize;
        if self.names.len() <= index {
            self.names.resize(index + 1, Box::default());
        }
        if self.names[index].is_empty() {
            let mut name = clean(make());
            if unique {
                if self.taken.contains(name.as_str()) {
                    let base = format!("{name}#{id}");
                    name.clone_from(&base);
                    let mut n = 1;
                    while self.taken.contains(name.as_str()) {
                        n += 1;
                        name = format!("{base}.{n}");
                    }
                }
                self.taken.insert(name.as_str().into());
            }
            self.names[index] = name.into();
        }
        &self.names[index]
    }

    /// The id stands for something else from now on, which gets a name of its own.
    fn forget(&mut self, id: u32) {
        if let Some(name) = self.names.get_mut(id as usize) {
            *name = Box::default();
        }
    }
}

/// What text can hold of a name.
fn clean(name: String) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    if name.contains(|c: char| c == '|' || c.is_control()) {
        let swap = |c: char| match c {
            '|' => '¦',
            c if c.is_control() => '\u{fffd}',
            c => c,
        };
        return name.chars().map(swap).collect();
    }
    name
}

impl<W: Write> TextWriter<W> {
    /// Writes to `out`; `file` is what messages call it.
    pub fn new(file: impl Into<String>, out: W) -> Self {
        Self {
            out,
            file: file.into(),
            lines: Vec::new(),
            threads: Written::default(),
            vars: Written::default(),
            locks: Written::default(),
            signals: Written::default(),
            regions: Written::default(),
            methods: Written::default(),
            sites: Written::default(),
        }
    }

    /// Writes the events, all of whose ids are in the tables.
    pub fn write(&mut self, tables: &Tables, events: &[Event]) -> Result<(), Error> {
        for event in events {
            self.line(tables, event);
            if self.lines.len() > 64 << 10 {
                self.put()?;
            }
        }
        self.put()
    }

    /// What was written to so far.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// Hands everything on and gives the output back.
    pub fn finish(mut self) -> Result<W, Error> {
        (self.out.flush()).map_err(|error| Error::io(&self.file, error))?;
        Ok(self.out)
    }

    fn put(&mut self) -> Result<(), Error> {
        (self.out.write_all(&self.lines)).map_err(|error| Error::io(&self.file, error))?;
        self.lines.clear();
        Ok(())
    }

    fn line(&mut self, tables: &Tables, event: &Event) {
        // Text has no word for it and needs none: another thing has another name.
        match event.op {
            Op::GoneObject(object) => {
                return tables
                    .vars_of(object)
                    .for_each(|var| self.vars.forget(var.0));
            }
            Op::GoneLock(lock) => {
                self.locks.forget(lock.0);
                return self.signals.forget(lock.0);
            }
            _ => {}
        }
        let thread = |id| {
            let mut name = tables.thread_name(id);
            if grammar::is_thread_number_too_large(&name) {
                name.push('_');
            }
            name
        };
        let out = &mut self.lines;
        let name = (self.threads).name(event.thread.0, true, || thread(event.thread));
        out.extend_from_slice(name.as_bytes());
        out.push(b'|');
        let operand = match event.op {
            Op::Read(_, id) | Op::Write(_, id) | Op::Update(_, id) => {
                self.vars.name(id.0, true, || tables.var_name(id))
            }
            Op::Acquire(_, id)
            | Op::Reacquire(_, id)
            | Op::Release(_, id)
            | Op::Rerelease(_, id)
            | Op::Wait(id)
            | Op::Wake(id)
            | Op::Notify(id) => self.locks.name(id.0, true, || tables.lock_name(id)),
            Op::Signal(id) | Op::Await(id) => {
                self.signals.name(id.0, true, || tables.lock_name(id))
            }
            Op::Fork(id) | Op::Join(id) => self.threads.name(id.0, true, || thread(id)),
            Op::Begin(id) | Op::End(id) => region(&mut self.regions, tables, id),
            Op::Enter(id) | Op::Exit(id) => {
                self.methods.name(id.0, true, || tables.method_name(id))
            }
            Op::GoneObject(_) | Op::GoneLock(_) => return,
        };
        out.extend_from_slice(verb(event.op).as_bytes());
        if !operand.is_empty() {
            out.push(b'(');
            out.extend_from_slice(operand.as_bytes());
            out.push(b')');
        }
        out.push(b'|');
        let site = if event.site == SiteId::UNKNOWN {
            "?"
        } else {
            let name = || {
                (tables.site_name(event.site))
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| "?".to_owned())
            };
            // Two sites of one name are one place to a reader of text.
            self.sites.name(event.site.0, false, name)
        };
        out.extend_from_slice(site.as_bytes());
        out.push(b'\n');
    }
}

/// The word for an operation.
fn verb(op: Op) -> &'static str {
    use LockMode::{Exclusive, Shared};
    let either = |flags: AccessFlags, volatile, plain| {
        if flags.is_volatile() { volatile } else { plain }
    };
    match op {
        Op::Read(flags, _) => either(flags, "vr", "r"),
        Op::Write(flags, _) => either(flags, "vw", "w"),
        Op::Update(flags, _) => either(flags, "vu", "u"),
        Op::Acquire(Exclusive, _) | Op::Reacquire(Exclusive, _) => "acq",
        Op::Acquire(Shared, _) | Op::Reacquire(Shared, _) => "acqs",
        Op::Release(Exclusive, _) | Op::Rerelease(Exclusive, _) => "rel",
        Op::Release(Shared, _) | Op::Rerelease(Shared, _) => "rels",
        Op::Wait(_) => "wait",
        Op::Wake(_) => "wake",
        Op::Notify(_) => "notify",
        Op::Signal(_) => "sig",
        Op::Await(_) => "await",
        Op::Fork(_) => "fork",
        Op::Join(_) => "join",
        Op::Begin(_) => "begin",
        Op::End(_) => "end",
        Op::Enter(_) => "enter",
        Op::Exit(_) => "exit",
        Op::GoneObject(_) | Op::GoneLock(_) => "",
    }
}

/// The label of a region; empty for the anonymous one.
fn region<'a>(names: &'a mut Written, tables: &Tables, id: RegionId) -> &'a str {
    if id == RegionId::ANONYMOUS {
        return "";
    }
    names.name(id.0, true, || match tables.regions.get(id) {
        Some(region) => match (region.kind, region.method) {
            (RegionKind::Method, Some(method)) => tables.method_name(method),
            _ => tables.text(region.name).to_owned(),
        },
        None => format!("{id:?}"),
    })
}
