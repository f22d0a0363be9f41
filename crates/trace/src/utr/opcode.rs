//! Operations as one byte and one number.
//!
//! Flags and modes are part of the byte, so the columns of a chunk hold one number an event.
//! Regions are stored one higher: the anonymous one, whose id is the highest number, becomes 0 and does not widen the column.

use untorn_model::{
    AccessFlags, LockId, LockMode, MethodId, ObjectId, Op, RegionId, Tables, ThreadId, VarId,
};

/// How many codes a byte can name, so that a table lookup needs no bounds check; few are used.
pub const CODES: usize = 256;

const FLAGS: u8 = 8;
const LOCKS: u8 = 3 * FLAGS;
const OTHERS: u8 = LOCKS + 8;
const USED: u8 = OTHERS + 13;

/// The operation of each code, with operand 0; codes that are not used repeat the first.
pub const OPS: [Op; CODES] = ops();
/// The same in one place in memory.
static TABLE: [Op; CODES] = OPS;

const fn ops() -> [Op; CODES] {
    use LockMode::{Exclusive, Shared};
    let mut ops = [Op::Read(AccessFlags::PLAIN, VarId(0)); CODES];
    let mut flags = 0;
    while flags < FLAGS {
        let at = flags as usize;
        ops[at] = Op::Read(AccessFlags(flags), VarId(0));
        ops[at + FLAGS as usize] = Op::Write(AccessFlags(flags), VarId(0));
        ops[at + 2 * FLAGS as usize] = Op::Update(AccessFlags(flags), VarId(0));
        flags += 1;
    }
    let m = LockId(0);
    let rest = [
        Op::Acquire(Exclusive, m),
        Op::Acquire(Shared, m),
        Op::Release(Exclusive, m),
        Op::Release(Shared, m),
        Op::Reacquire(Exclusive, m),
        Op::Reacquire(Shared, m),
        Op::Rerelease(Exclusive, m),
        Op::Rerelease(Shared, m),
        Op::Wait(m),
        Op::Wake(m),
        Op::Notify(m),
        Op::Signal(m),
        Op::Await(m),
        Op::Fork(ThreadId(0)),
        Op::Join(ThreadId(0)),
        Op::Begin(RegionId(0)),
        Op::End(RegionId(0)),
        Op::Enter(MethodId(0)),
        Op::Exit(MethodId(0)),
        Op::GoneObject(ObjectId(0)),
        Op::GoneLock(m),
    ];
    let mut i = 0;
    while i < rest.len() {
        ops[LOCKS as usize + i] = rest[i];
        i += 1;
    }
    ops
}

/// Code and stored operand of an operation; `None` for access flags that the format does not know.
#[inline]
pub fn encode(op: Op) -> Option<(u8, u32)> {
    let access = |base: u8, flags: AccessFlags| (flags.0 < FLAGS).then_some(base * FLAGS + flags.0);
    Some(match op {
        Op::Read(flags, var) => (access(0, flags)?, var.0),
        Op::Write(flags, var) => (access(1, flags)?, var.0),
        Op::Update(flags, var) => (access(2, flags)?, var.0),
        Op::Acquire(mode, lock) => (LOCKS + mode as u8, lock.0),
        Op::Release(mode, lock) => (LOCKS + 2 + mode as u8, lock.0),
        Op::Reacquire(mode, lock) => (LOCKS + 4 + mode as u8, lock.0),
        Op::Rerelease(mode, lock) => (LOCKS + 6 + mode as u8, lock.0),
        Op::Wait(lock) => (OTHERS, lock.0),
        Op::Wake(lock) => (OTHERS + 1, lock.0),
        Op::Notify(lock) => (OTHERS + 2, lock.0),
        Op::Signal(lock) => (OTHERS + 3, lock.0),
        Op::Await(lock) => (OTHERS + 4, lock.0),
        Op::Fork(thread) => (OTHERS + 5, thread.0),
        Op::Join(thread) => (OTHERS + 6, thread.0),
        Op::Begin(region) => (OTHERS + 7, region.0.wrapping_add(1)),
        Op::End(region) => (OTHERS + 8, region.0.wrapping_add(1)),
        Op::Enter(method) => (OTHERS + 9, method.0),
        Op::Exit(method) => (OTHERS + 10, method.0),
        Op::GoneObject(object) => (OTHERS + 11, object.0),
        Op::GoneLock(lock) => (OTHERS + 12, lock.0),
    })
}

/// The operation of a code and a stored operand, which the caller has held against [`Limits`].
#[inline]
pub fn decode(code: u8, stored: u32) -> Op {
    let mut op = TABLE[code as usize];
    // Every arm stores to the same place, so this compiles to one store and no jump.
    match &mut op {
        Op::Read(_, VarId(id))
        | Op::Write(_, VarId(id))
        | Op::Update(_, VarId(id))
        | Op::Acquire(_, LockId(id))
        | Op::Release(_, LockId(id))
        | Op::Reacquire(_, LockId(id))
        | Op::Rerelease(_, LockId(id))
        | Op::Wait(LockId(id))
        | Op::Wake(LockId(id))
        | Op::Notify(LockId(id))
        | Op::Signal(LockId(id))
        | Op::Await(LockId(id))
        | Op::Fork(ThreadId(id))
        | Op::Join(ThreadId(id))
        | Op::Enter(MethodId(id))
        | Op::Exit(MethodId(id))
        | Op::GoneObject(ObjectId(id))
        | Op::GoneLock(LockId(id)) => *id = stored,
        Op::Begin(RegionId(id)) | Op::End(RegionId(id)) => *id = stored.wrapping_sub(1),
    }
    op
}

/// Which stored operands and sites stand for entries of the tables.
#[derive(Clone, Debug)]
pub struct Limits {
    /// By code, the first stored operand that is too high; 0 for codes that are not used.
    pub operands: [u32; CODES],
    /// The first stored site that is too high.
    pub sites: u32,
}

impl Limits {
    pub fn of(tables: &Tables) -> Self {
        let mut operands = [0; CODES];
        for (code, limit) in operands.iter_mut().enumerate().take(USED as usize) {
            let len = match OPS[code] {
                Op::Read(..) | Op::Write(..) | Op::Update(..) => tables.vars().len(),
                Op::Fork(_) | Op::Join(_) => tables.threads.len(),
                Op::Begin(_) | Op::End(_) => tables.regions.len() + 1,
                Op::Enter(_) | Op::Exit(_) => tables.methods.len(),
                Op::GoneObject(_) => tables.objects.len(),
                _ => tables.locks.len(),
            };
            *limit = len as u32;
        }
        Self {
            operands,
            sites: tables.sites.len() as u32 + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_comes_back() {
        for code in 0..USED {
            for stored in [0, 1, 77, u32::MAX] {
                let op = decode(code, stored);
                assert_eq!(encode(op), Some((code, stored)), "{op:?}");
            }
        }
        assert_eq!(encode(Op::Read(AccessFlags(8), VarId(0))), None);
        let (_, stored) = encode(Op::Begin(RegionId::ANONYMOUS)).unwrap();
        assert_eq!(stored, 0);
    }

    #[test]
    fn limits_admit_exactly_what_the_tables_hold() {
        let limits = Limits::of(&Tables::default());
        for code in 0..=u8::MAX {
            let region = matches!(decode(code, 0), Op::Begin(_) | Op::End(_));
            assert_eq!(limits.operands[code as usize], u32::from(region));
        }
        assert_eq!(limits.sites, 1);
    }
}
