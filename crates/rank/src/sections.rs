//! What a region does without giving up a lock in between, and which lock that is.
//!
//! Acquisitions are followed forward through the region's own code; where ways meet, only what is held on all of them counts.
//! Locks that callees take and keep are not seen, so nothing is claimed of them.

use std::collections::BTreeSet;

use untorn_program::ir::{Body, Const, Def, Instr, Op};
use untorn_program::{BlockId, InstrId, ValueId};

use crate::code::RegionBody;

/// How well a lock is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// The receiver, a class, or what their fields hold: the same expression elsewhere is the same lock.
    Fixed,
    /// Picked while the program runs, or of a kind that checks do not follow: it may well be the one that others hold.
    Picked,
}

/// An acquisition in the code, or that of a synchronized method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Taken {
    Method,
    At(InstrId),
}

/// The lock that is taken before all ends and kept until after them; one that is shared only keeps writers out.
pub fn around(region: &RegionBody<'_>, ends: &[InstrId], only_reads: bool) -> Option<Lock> {
    let held = Held::of(region);
    let mut common: Option<BTreeSet<Taken>> = None;
    for &end in ends {
        let here = held.before(region, end);
        common = Some(match common {
            None => here,
            Some(before) => before.intersection(&here).copied().collect(),
        });
    }
    let locks = (common?.into_iter())
        .filter(|taken| only_reads || !is_shared(region, *taken))
        .map(|taken| match taken {
            Taken::Method => Lock::Fixed,
            Taken::At(id) => kind(region, id),
        });
    // One that may be anybody's is reason enough to doubt.
    locks.fold(None, |all, lock| match (all, lock) {
        (Some(Lock::Picked), _) | (_, Lock::Picked) => Some(Lock::Picked),
        _ => Some(Lock::Fixed),
    })
}

/// The instructions at which the region's own code holds a lock.
pub fn guarded(region: &RegionBody<'_>) -> Vec<InstrId> {
    let entries = Held::of(region).at_entry;
    let mut all = Vec::new();
    for (block, held) in region.body.block_ids().zip(entries) {
        let Some(mut held) = held else { continue };
        let block = region.body.block(block);
        for id in ids(block.first, block.end) {
            if !held.is_empty() {
                all.push(id);
            }
            step(region, id, &mut held);
        }
    }
    all
}

/// Acquisitions that are open on every way, by block.
struct Held {
    at_entry: Vec<Option<BTreeSet<Taken>>>,
}

impl Held {
    fn of(region: &RegionBody<'_>) -> Self {
        let body = &region.body;
        let mut at_entry: Vec<Option<BTreeSet<Taken>>> = vec![None; body.blocks.len()];
        let of_method = region.is_synchronized().then_some(Taken::Method);
        let Some(entry) = body.block_ids().next() else {
            return Self { at_entry };
        };
        at_entry[entry.index()] = Some(of_method.into_iter().collect());
        let mut open = vec![entry];
        while let Some(at) = open.pop() {
            let Some(mut held) = at_entry[at.index()].clone() else {
                continue;
            };
            let block = body.block(at);
            let mut thrown = held.clone();
            for id in ids(block.first, block.end) {
                step(region, id, &mut held);
                thrown.retain(|taken| held.contains(taken));
            }
            let normal = block.succs.iter().map(|next| (*next, &held));
            let thrown = (block.handlers.iter()).map(|handler| (handler.block, &thrown));
            for (next, held) in normal.chain(thrown) {
                let known = &mut at_entry[next.index()];
                let met: BTreeSet<Taken> = match known {
                    None => held.clone(),
                    Some(known) => known.intersection(held).copied().collect(),
                };
                if known.as_ref() != Some(&met) {
                    *known = Some(met);
                    open.push(next);
                }
            }
        }
        Self { at_entry }
    }

    fn before(&self, region: &RegionBody<'_>, id: InstrId) -> BTreeSet<Taken> {
        let at: BlockId = region.body.instr(id).block;
        let mut held = self.at_entry[at.index()].clone().unwrap_or_default();
        for earlier in ids(region.body.block(at).first, id) {
            step(region, earlier, &mut held);
        }
        held
    }
}

fn ids(first: InstrId, end: InstrId) -> impl Iterator<Item = InstrId> {
    (first.0..end.0).map(InstrId)
}

/// What an instruction does to the locks that are held.
fn step(region: &RegionBody<'_>, id: InstrId, held: &mut BTreeSet<Taken>) {
    let instr = region.body.instr(id);
    match &instr.op {
        Op::MonitorEnter { .. } => {
            held.insert(Taken::At(id));
        }
        Op::MonitorExit { object } => held.retain(|taken| match taken {
            Taken::Method => true,
            Taken::At(at) => {
                !matches!(&region.body.instr(*at).op, Op::MonitorEnter { object: of } if of == object)
            }
        }),
        Op::Invoke { .. } => match region.callee(instr) {
            Some((class, method)) if is_lock(class) && takes(class, method) => {
                held.insert(Taken::At(id));
            }
            Some((class, method)) if is_lock(class) && gives_up(method) => {
                held.retain(|taken| match taken {
                    Taken::Method => true,
                    Taken::At(at) => {
                        let of = region.body.instr(*at);
                        matches!(of.op, Op::MonitorEnter { .. }) || !is_same(region, of, instr)
                    }
                });
            }
            _ => {}
        },
        _ => {}
    }
}

fn is_lock(class: &str) -> bool {
    class.starts_with("java/util/concurrent/locks/") || class == "java/util/concurrent/Semaphore"
}

/// Not `tryLock` and its kin: whether they take the lock is not known here.
///
/// `readLock` of a stamped lock takes it, that of a read-write lock only hands out a part of it.
fn takes(class: &str, method: &str) -> bool {
    match method {
        "readLock" | "writeLock" | "readLockInterruptibly" | "writeLockInterruptibly" => {
            class.ends_with("/StampedLock")
        }
        "lock" | "lockInterruptibly" | "acquire" | "acquireUninterruptibly" => true,
        _ => false,
    }
}

fn is_shared(region: &RegionBody<'_>, taken: Taken) -> bool {
    let Taken::At(id) = taken else {
        return false;
    };
    let instr = region.body.instr(id);
    let stamp = (region.callee(instr)).is_some_and(|(_, method)| method.starts_with("readLock"));
    let handed_out = receiver(instr).and_then(|value| match region.body.value(value).def {
        Def::Instr(made) => region.callee(region.body.instr(made)),
        _ => None,
    });
    let held = receiver(instr).and_then(|value| path(region, value, DEPTH));
    let by_name = |name: &str| name.to_ascii_lowercase().contains("read");
    stamp
        || handed_out.is_some_and(|(_, method)| method == "readLock")
        || held.is_some_and(|path| path.rsplit('.').next().is_some_and(by_name))
}

fn gives_up(method: &str) -> bool {
    matches!(
        method,
        "unlock" | "unlockRead" | "unlockWrite" | "release" | "await" | "tryConvertToWriteLock"
    )
}

/// Whether a release may be of what an acquisition took: it is unless both name different locks.
fn is_same(region: &RegionBody<'_>, taken: &Instr, given: &Instr) -> bool {
    let (Some(taken), Some(given)) = (receiver(taken), receiver(given)) else {
        return true;
    };
    match (path(region, taken, DEPTH), path(region, given, DEPTH)) {
        (Some(taken), Some(given)) => taken == given,
        _ => true,
    }
}

fn receiver(instr: &Instr) -> Option<ValueId> {
    match &instr.op {
        Op::MonitorEnter { object } => Some(*object),
        Op::Invoke { args, .. } => args.first().copied(),
        _ => None,
    }
}

/// A lock as the source names it, and the class that it is declared to be of, by its internal name.
#[derive(Debug)]
pub struct Expression {
    pub text: String,
    pub class: String,
}

/// The locks that the region's own code holds at an instruction.
pub fn expressions(region: &RegionBody<'_>, at: InstrId) -> Vec<Option<Expression>> {
    let held = Held::of(region).before(region, at);
    (held.into_iter())
        .map(|taken| expression(region, taken))
        .collect()
}

/// The lock that an instruction takes or gives up.
pub fn named(region: &RegionBody<'_>, id: InstrId) -> Option<Expression> {
    let instr = region.body.instr(id);
    let object = match &instr.op {
        Op::MonitorEnter { object } | Op::MonitorExit { object } => *object,
        Op::Invoke { .. }
            if region
                .callee(instr)
                .is_some_and(|(class, _)| is_lock(class)) =>
        {
            receiver(instr)?
        }
        _ => return None,
    };
    of_value(region, object)
}

fn expression(region: &RegionBody<'_>, taken: Taken) -> Option<Expression> {
    match taken {
        Taken::Method => Some(region.own_monitor()),
        Taken::At(id) => named(region, id),
    }
}

fn of_value(region: &RegionBody<'_>, value: ValueId) -> Option<Expression> {
    let path = path(region, value, DEPTH)?;
    let text = match (path.as_str(), region.class_constant(value)) {
        ("class", Some(class)) => format!("{class}.class"),
        ("class", None) => return None,
        (path, _) => path.strip_prefix("this.").unwrap_or(path).to_owned(),
    };
    Some(Expression {
        text,
        class: region.class_of(value)?.to_owned(),
    })
}

/// How many fields a lock expression is followed through.
const DEPTH: u32 = 4;

fn kind(region: &RegionBody<'_>, at: InstrId) -> Lock {
    let instr = region.body.instr(at);
    let stamped = (region.callee(instr))
        .is_some_and(|(class, _)| class.ends_with("/StampedLock") || class.ends_with("/Semaphore"));
    let fixed = receiver(instr).and_then(|value| path(region, value, DEPTH));
    if stamped || fixed.is_none() {
        Lock::Picked
    } else {
        Lock::Fixed
    }
}

/// The expression of a lock: `this`, a class, fields of these, and what their locks hand out.
fn path(region: &RegionBody<'_>, value: ValueId, deep: u32) -> Option<String> {
    let body: &Body = &region.body;
    if deep == 0 {
        return None;
    }
    match body.value(value).def {
        Def::Param(0) if body.has_receiver => Some("this".to_owned()),
        Def::Instr(id) => {
            let instr = body.instr(id);
            match &instr.op {
                Op::GetField { object, .. } => {
                    let base = path(region, *object, deep - 1)?;
                    Some(format!("{base}.{}", region.field(instr)?))
                }
                Op::GetStatic { .. } => Some(region.field(instr)?.to_owned()),
                Op::Const(Const::Class(_)) => Some("class".to_owned()),
                Op::Cast { value, .. } => path(region, *value, deep - 1),
                Op::Invoke { args, .. } => {
                    let (class, method) = region.callee(instr)?;
                    let part = is_lock(class) && matches!(method, "readLock" | "writeLock");
                    let base = path(region, *args.first()?, deep - 1)?;
                    part.then(|| format!("{base}.{method}()"))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_write_locks_are_taken_by_their_own_lock_method_or_as_stamps() {
        let (stamped, parted) = (
            "java/util/concurrent/locks/StampedLock",
            "java/util/concurrent/locks/ReentrantReadWriteLock",
        );
        assert!(takes(stamped, "writeLock") && !takes(parted, "writeLock"));
        assert!(takes(parted, "lock") && !takes(parted, "tryLock"));
        assert!(gives_up("await") && !gives_up("newCondition"));
        assert!(is_lock("java/util/concurrent/locks/StampedLock") && !is_lock("a/Lock"));
    }
}
