//! From records to events.

use untorn_channel::Record;
use untorn_channel::declare::AccessKind;
use untorn_channel::record::LockOp;
use untorn_model::{AccessFlags, LockKind, LockMode, Op, Part, SiteId};

use crate::names::{Names, SiteTarget};
use crate::repair::Aside;

/// What the prefixes before an access said.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prefix {
    element: Option<u32>,
    key: Option<u64>,
    /// By the rewriter's id, and whether it is static.
    field: Option<(u32, bool)>,
    approximate: bool,
    /// Whether any of them is there.
    any: bool,
}

/// The prefixes of every thread.
#[derive(Debug, Default)]
pub struct Decoder {
    prefixes: Vec<Prefix>,
}

/// What a record needs that has not been declared yet.
#[inline]
pub fn is_known(names: &Names, record: Record) -> bool {
    match record {
        Record::Access { site, .. } | Record::Lock { site, .. } => names.knows_site(site),
        Record::Fork { thread, site } | Record::Join { thread, site } => {
            names.knows_thread(thread) && site.is_none_or(|site| names.knows_site(site))
        }
        Record::Begin { region } | Record::End { region } => names.region_of(region).is_some(),
        Record::Enter { method } | Record::Exit { method } => names.method_of(method).is_some(),
        Record::Key { key } => names.knows_key(key),
        Record::Field { field, .. } => names.knows_field(field),
        Record::NewLock { class, .. }
        | Record::NewClassLock { class, .. }
        | Record::NewObject { class, .. } => names.knows_runtime_class(class),
        Record::Edge { .. }
        | Record::Element { .. }
        | Record::Approximate
        | Record::Owned { .. }
        | Record::GoneLock { .. }
        | Record::GoneObject { .. }
        | Record::Unwound { .. }
        | Record::Released { .. }
        | Record::InitializerBegins
        | Record::InitializerEnds
        | Record::In(_)
        | Record::From(_) => true,
    }
}

/// What became of a record.
pub enum Decoded {
    Event(SiteId, Op),
    /// It told something of the thread's regions and monitors.
    Aside(Aside),
    /// It told something about what follows.
    Nothing,
    /// It names what nobody declared, or there are no ids left.
    Lost,
}

impl Decoder {
    /// The prefixes of a thread.
    pub fn prefix(&mut self, thread: u32) -> &mut Prefix {
        let index = thread as usize;
        if self.prefixes.len() <= index {
            self.prefixes.resize(index + 1, Prefix::default());
        }
        &mut self.prefixes[index]
    }
}

/// The event of a record, after the prefixes of its thread; `begun` as in [`Lives::drop`](crate::lives::Lives::drop).
#[inline]
pub fn decode(prefix: &mut Prefix, names: &mut Names, record: Record, begun: u64) -> Decoded {
    if let Record::Access { site, object } = record {
        let before = if prefix.any {
            std::mem::take(prefix)
        } else {
            Prefix::default()
        };
        return match access(names, site, object, before) {
            Some((site, op)) => Decoded::Event(site, op),
            None => Decoded::Lost,
        };
    }
    match record {
        Record::Element { index } => prefix.element = Some(index),
        Record::Key { key } => prefix.key = Some(key),
        Record::Field { field, is_static } => prefix.field = Some((field, is_static)),
        Record::Approximate => prefix.approximate = true,
        Record::NewLock { lock, class } => names.new_lock(lock, class, false),
        Record::NewClassLock { lock, class } => names.new_lock(lock, class, true),
        Record::NewObject { object, class } => {
            if names.new_object(object, class).is_none() {
                return Decoded::Lost;
            }
        }
        Record::GoneLock { lock } => names.drop_lock(lock, begun),
        Record::GoneObject { object } => names.drop_object(object, begun),
        // Who had the object before is not an event: no analysis asks for it.
        Record::Edge { .. } | Record::Owned { .. } | Record::In(_) | Record::From(_) => {}
        Record::Unwound { regions } => return Decoded::Aside(Aside::Unwound(regions)),
        Record::Released { lock } => {
            return match names.lock(lock, LockKind::Monitor) {
                Some(lock) => Decoded::Aside(Aside::Released(lock)),
                None => Decoded::Lost,
            };
        }
        Record::InitializerBegins => return Decoded::Aside(Aside::InitializerBegins),
        Record::InitializerEnds => return Decoded::Aside(Aside::InitializerEnds),
        _ => {
            return match event(names, record) {
                Some((site, op)) => Decoded::Event(site, op),
                None => Decoded::Lost,
            };
        }
    }
    prefix.any |= matches!(
        record,
        Record::Element { .. } | Record::Key { .. } | Record::Field { .. } | Record::Approximate
    );
    Decoded::Nothing
}

fn event(names: &mut Names, record: Record) -> Option<(SiteId, Op)> {
    Some(match record {
        Record::Lock { op, site, lock } => (names.site(site)?.0, lock_op(names, op, lock)?),
        Record::Fork { thread, site } => (called(names, site), Op::Fork(names.thread(thread)?)),
        Record::Join { thread, site } => (called(names, site), Op::Join(names.thread(thread)?)),
        Record::Begin { region } => {
            let region = names.region_of(region)?;
            (names.tables.regions[region].site, Op::Begin(region))
        }
        Record::End { region } => {
            let region = names.region_of(region)?;
            (names.tables.regions[region].site, Op::End(region))
        }
        Record::Enter { method } => (SiteId::UNKNOWN, Op::Enter(names.method_of(method)?)),
        Record::Exit { method } => (SiteId::UNKNOWN, Op::Exit(names.method_of(method)?)),
        _ => return None,
    })
}

/// Where a call stands, if that is known.
fn called(names: &Names, site: Option<u32>) -> SiteId {
    let site = site.and_then(|site| names.site(site));
    site.map_or(SiteId::UNKNOWN, |(site, _)| site)
}

#[inline]
fn access(names: &mut Names, site: u32, object: u64, prefix: Prefix) -> Option<(SiteId, Op)> {
    let (place, access) = names.site(site)?;
    let access = access?;
    // The runtime's way to say that it had no id left.
    let nameless = object == 0 && !matches!(access.target, SiteTarget::Static(_));
    if nameless {
        return None;
    }
    let var = match access.target {
        SiteTarget::Field(field, class) => names.field_var(object, field, class)?,
        SiteTarget::Static(var) => var,
        SiteTarget::Element => names.part_var(object, Part::Element(prefix.element?))?,
        // What an updater or a handle is for is known only when it is used.
        SiteTarget::Content => match (prefix.field, prefix.element) {
            (Some((field, true)), _) => names.static_field(field)?,
            (Some((field, false)), _) => names.field_of(object, field)?,
            (None, Some(index)) => names.part_var(object, Part::Element(index))?,
            (None, None) => {
                let part = names.key_part(prefix.key);
                names.part_var(object, part)?
            }
        },
    };
    let mut flags = access.flags;
    if prefix.approximate {
        flags = flags.with(AccessFlags::APPROXIMATE);
    }
    let op = match access.kind {
        AccessKind::Read => Op::Read(flags, var),
        AccessKind::Write => Op::Write(flags, var),
        AccessKind::Update => Op::Update(flags, var),
    };
    Some((place, op))
}

/// The event of an operation on a lock.
pub fn lock_op(names: &mut Names, op: LockOp, lock: u64) -> Option<Op> {
    let kind = match op {
        LockOp::Signal | LockOp::Await => LockKind::Synchronizer,
        LockOp::AcquireShared | LockOp::ReleaseShared => LockKind::Explicit,
        _ => LockKind::Monitor,
    };
    let lock = names.lock(lock, kind)?;
    Some(match op {
        LockOp::Acquire => Op::Acquire(LockMode::Exclusive, lock),
        LockOp::Release => Op::Release(LockMode::Exclusive, lock),
        LockOp::AcquireShared => Op::Acquire(LockMode::Shared, lock),
        LockOp::ReleaseShared => Op::Release(LockMode::Shared, lock),
        LockOp::Wait => Op::Wait(lock),
        LockOp::Wake => Op::Wake(lock),
        LockOp::Notify => Op::Notify(lock),
        LockOp::Signal => Op::Signal(lock),
        LockOp::Await => Op::Await(lock),
    })
}
