//! Records: what a thread did, in 8 bytes, never zero.
//!
//! | bits | access | others |
//! |---|---|---|
//! | 63 | 1 | 0 |
//! | 62..58 | site (25 bits, 62..38) | operation |
//! | 57..0 | object (38 bits, 37..0) | operands |
//!
//! The Java runtime writes them; a test compares its constants with these.
//! The *position* of a thread is the number of records it has written, prefixes and edges included.

pub const OBJECT_BITS: u32 = 38;
pub const SITE_BITS: u32 = 25;
pub const THREAD_BITS: u32 = 22;
pub const POSITION_BITS: u32 = 36;
pub const LOCK_BITS: u32 = 33;
/// Classes that the runtime names, in [`Record::NewObject`]; 0 when the id does not fit.
/// Threads in [`Record::Owned`]; the last number when the id does not fit.
pub const CLASS_BITS: u32 = 20;
pub const OP_SHIFT: u32 = 58;
/// Regions in the records of a first run, from 1; 0 is outside of all.
pub const REGION_BITS: u32 = 22;

const ACCESS: u64 = 1 << 63;

const fn low(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// What a lock record does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum LockOp {
    Acquire = 2,
    Release = 3,
    AcquireShared = 4,
    ReleaseShared = 5,
    Wait = 6,
    Wake = 7,
    Notify = 8,
    Signal = 9,
    Await = 10,
}

impl LockOp {
    pub const ALL: [Self; 9] = [
        Self::Acquire,
        Self::Release,
        Self::AcquireShared,
        Self::ReleaseShared,
        Self::Wait,
        Self::Wake,
        Self::Notify,
        Self::Signal,
        Self::Await,
    ];
}

const EDGE: u64 = 1;
const FORK: u64 = 11;
const JOIN: u64 = 12;
const BEGIN: u64 = 13;
const END: u64 = 14;
const ENTER: u64 = 15;
const EXIT: u64 = 16;
const ELEMENT: u64 = 17;
const KEY: u64 = 18;
const APPROXIMATE: u64 = 19;
const NEW_LOCK: u64 = 20;
const NEW_CLASS_LOCK: u64 = 21;
const NEW_OBJECT: u64 = 22;
const OWNED: u64 = 23;
const IN: u64 = 24;
const FROM: u64 = 25;
const GONE_LOCK: u64 = 26;
const GONE_OBJECT: u64 = 27;
const UNWOUND: u64 = 28;
const INITIALIZER: u64 = 29;
const FIELD: u64 = 30;

/// In [`UNWOUND`]: the operand is a monitor, not a number of regions.
const UNWOUND_MONITOR: u64 = 1 << LOCK_BITS;
/// In [`INITIALIZER`]: which end.
const INITIALIZER_BEGINS: u64 = 1;
const INITIALIZER_ENDS: u64 = 2;
/// In [`FIELD`], above the operand: the field is static.
const FIELD_STATIC: u64 = 1 << 32;

/// The names of the operations in the Java runtime, with their numbers.
pub const OPERATIONS: [(&str, u64); 30] = [
    ("EDGE", EDGE),
    ("ACQUIRE", LockOp::Acquire as u64),
    ("RELEASE", LockOp::Release as u64),
    ("ACQUIRE_SHARED", LockOp::AcquireShared as u64),
    ("RELEASE_SHARED", LockOp::ReleaseShared as u64),
    ("WAIT", LockOp::Wait as u64),
    ("WAKE", LockOp::Wake as u64),
    ("NOTIFY", LockOp::Notify as u64),
    ("SIGNAL", LockOp::Signal as u64),
    ("AWAIT", LockOp::Await as u64),
    ("FORK", FORK),
    ("JOIN", JOIN),
    ("BEGIN", BEGIN),
    ("END", END),
    ("ENTER", ENTER),
    ("EXIT", EXIT),
    ("ELEMENT", ELEMENT),
    ("KEY", KEY),
    ("APPROXIMATE", APPROXIMATE),
    ("NEW_LOCK", NEW_LOCK),
    ("NEW_CLASS_LOCK", NEW_CLASS_LOCK),
    ("NEW_OBJECT", NEW_OBJECT),
    ("OWNED", OWNED),
    ("IN", IN),
    ("FROM", FROM),
    ("GONE_LOCK", GONE_LOCK),
    ("GONE_OBJECT", GONE_OBJECT),
    ("UNWOUND", UNWOUND),
    ("INITIALIZER", INITIALIZER),
    ("FIELD", FIELD),
];

/// A record, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Record {
    /// A read, write or update; which one, and of what, the site tells.
    Access {
        site: u32,
        object: u64,
    },
    /// Everything that thread wrote before that position precedes what follows here.
    Edge {
        thread: u32,
        position: u64,
    },
    Lock {
        op: LockOp,
        site: u32,
        lock: u64,
    },
    /// The site is that of the call, if it is one that is watched.
    Fork {
        thread: u32,
        site: Option<u32>,
    },
    Join {
        thread: u32,
        site: Option<u32>,
    },
    Begin {
        region: u32,
    },
    End {
        region: u32,
    },
    Enter {
        method: u32,
    },
    Exit {
        method: u32,
    },
    /// The next access is to this array element.
    Element {
        index: u32,
    },
    /// The next access is to what the collection holds under this key.
    Key {
        key: u64,
    },
    /// The next access is to this field, which the rewriter named: what a field updater or a variable handle is for.
    Field {
        field: u32,
        is_static: bool,
    },
    /// The next access overlapped another, so its place in the order is a guess.
    Approximate,
    /// A lock is used for the first time; its class is one that the runtime named.
    NewLock {
        lock: u64,
        class: u32,
    },
    /// The same for a class object: the class is itself.
    NewClassLock {
        lock: u64,
        class: u32,
    },
    /// An array or collection is accessed for the first time.
    NewObject {
        object: u64,
        class: u32,
    },
    /// An object is recorded from here on; only that thread touched it before, and wrote no records of it.
    Owned {
        object: u64,
        thread: u32,
    },
    /// The lock was collected: no thread can use it any more, and edges put this after all that any has written of it.
    GoneLock {
        lock: u64,
    },
    /// The same of an object with shared locations.
    GoneObject {
        object: u64,
    },
    /// So many of the open regions, the innermost ones, have ended where their frames had no stack to say so.
    Unwound {
        regions: u32,
    },
    /// A monitor that this thread held was given up once where its frame had no stack to say so; others may have it since.
    Released {
        lock: u64,
    },
    /// A class initializer begins within a region, and what follows is no part of it.
    InitializerBegins,
    /// It ends.
    InitializerEnds,
    /// In a first run, where [`Record::Edge`] names transactions in place of positions: the thread's current transaction.
    In(Transaction),
    /// In a first run: the transaction that the edge before leads from.
    From(Transaction),
}

/// A transaction of some thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transaction {
    /// Counted from 1 in its thread.
    pub number: u64,
    /// None outside of all regions.
    pub region: Option<u32>,
}

impl Transaction {
    const fn encode(self) -> u64 {
        let region = match self.region {
            Some(region) => region as u64 + 1,
            None => 0,
        };
        (self.number & low(POSITION_BITS)) << REGION_BITS | region & low(REGION_BITS)
    }

    const fn decode(payload: u64) -> Self {
        let region = payload & low(REGION_BITS);
        Self {
            number: payload >> REGION_BITS,
            region: match region {
                0 => None,
                _ => Some(region as u32 - 1),
            },
        }
    }
}

impl Record {
    /// The record's 8 bytes; operands that are too wide lose their upper bits.
    pub const fn encode(self) -> u64 {
        const fn op(op: u64, payload: u64) -> u64 {
            op << OP_SHIFT | payload & low(OP_SHIFT)
        }
        const fn pair(high: u32, high_bits: u32, value: u64, value_bits: u32) -> u64 {
            (high as u64 & low(high_bits)) << value_bits | value & low(value_bits)
        }
        const fn life(thread: u32, site: Option<u32>) -> u64 {
            let site = match site {
                Some(site) => site + 1,
                None => 0,
            };
            pair(site, SITE_BITS + 1, thread as u64, THREAD_BITS)
        }
        match self {
            Self::Access { site, object } => ACCESS | pair(site, SITE_BITS, object, OBJECT_BITS),
            Self::Edge { thread, position } => {
                op(EDGE, pair(thread, THREAD_BITS, position, POSITION_BITS))
            }
            Self::Lock { op: o, site, lock } => {
                op(o as u64, pair(site, SITE_BITS, lock, LOCK_BITS))
            }
            Self::Fork { thread, site } => op(FORK, life(thread, site)),
            Self::Join { thread, site } => op(JOIN, life(thread, site)),
            Self::Begin { region } => op(BEGIN, region as u64),
            Self::End { region } => op(END, region as u64),
            Self::Enter { method } => op(ENTER, method as u64),
            Self::Exit { method } => op(EXIT, method as u64),
            Self::Element { index } => op(ELEMENT, index as u64),
            Self::Key { key } => op(KEY, key),
            Self::Field { field, is_static } => op(
                FIELD,
                field as u64 | if is_static { FIELD_STATIC } else { 0 },
            ),
            Self::Approximate => op(APPROXIMATE, 1),
            Self::NewLock { lock, class } => op(NEW_LOCK, pair(class, SITE_BITS, lock, LOCK_BITS)),
            Self::NewClassLock { lock, class } => {
                op(NEW_CLASS_LOCK, pair(class, SITE_BITS, lock, LOCK_BITS))
            }
            Self::NewObject { object, class } => {
                op(NEW_OBJECT, pair(class, CLASS_BITS, object, OBJECT_BITS))
            }
            Self::GoneLock { lock } => op(GONE_LOCK, lock & low(LOCK_BITS)),
            Self::GoneObject { object } => op(GONE_OBJECT, object & low(OBJECT_BITS)),
            Self::Unwound { regions } => op(UNWOUND, regions as u64),
            Self::Released { lock } => op(UNWOUND, UNWOUND_MONITOR | lock & low(LOCK_BITS)),
            Self::InitializerBegins => op(INITIALIZER, INITIALIZER_BEGINS),
            Self::InitializerEnds => op(INITIALIZER, INITIALIZER_ENDS),
            Self::In(transaction) => op(IN, transaction.encode()),
            Self::From(transaction) => op(FROM, transaction.encode()),
            Self::Owned { object, thread } => {
                op(OWNED, pair(thread, CLASS_BITS, object, OBJECT_BITS))
            }
        }
    }

    /// Whether these bytes are a [`Record::Access`]: cheaper than taking them apart.
    #[inline]
    pub const fn is_access(bits: u64) -> bool {
        bits & ACCESS != 0
    }

    /// Whether these bytes are a [`Record::Edge`]: cheaper than taking them apart.
    #[inline]
    pub const fn is_edge(bits: u64) -> bool {
        bits >> OP_SHIFT == EDGE
    }

    /// Takes 8 bytes apart; `None` for what no runtime writes.
    #[inline]
    pub const fn decode(bits: u64) -> Option<Self> {
        const fn life_site(payload: u64) -> Option<u32> {
            match payload >> THREAD_BITS & low(SITE_BITS + 1) {
                0 => None,
                site => Some(site as u32 - 1),
            }
        }
        if bits & ACCESS != 0 {
            return Some(Self::Access {
                site: (bits >> OBJECT_BITS & low(SITE_BITS)) as u32,
                object: bits & low(OBJECT_BITS),
            });
        }
        let payload = bits & low(OP_SHIFT);
        let site = (payload >> LOCK_BITS) as u32;
        let lock = payload & low(LOCK_BITS);
        let small = payload as u32;
        Some(match bits >> OP_SHIFT {
            EDGE => Self::Edge {
                thread: (payload >> POSITION_BITS) as u32,
                position: payload & low(POSITION_BITS),
            },
            number @ 2..=10 => Self::Lock {
                op: LockOp::ALL[number as usize - 2],
                site,
                lock,
            },
            FORK => Self::Fork {
                thread: (payload & low(THREAD_BITS)) as u32,
                site: life_site(payload),
            },
            JOIN => Self::Join {
                thread: (payload & low(THREAD_BITS)) as u32,
                site: life_site(payload),
            },
            BEGIN => Self::Begin { region: small },
            END => Self::End { region: small },
            ENTER => Self::Enter { method: small },
            EXIT => Self::Exit { method: small },
            ELEMENT => Self::Element { index: small },
            KEY => Self::Key { key: payload },
            FIELD => Self::Field {
                field: small,
                is_static: payload & FIELD_STATIC != 0,
            },
            APPROXIMATE => Self::Approximate,
            NEW_LOCK => Self::NewLock { lock, class: site },
            NEW_CLASS_LOCK => Self::NewClassLock { lock, class: site },
            NEW_OBJECT => Self::NewObject {
                object: payload & low(OBJECT_BITS),
                class: (payload >> OBJECT_BITS) as u32,
            },
            GONE_LOCK => Self::GoneLock { lock },
            GONE_OBJECT => Self::GoneObject {
                object: payload & low(OBJECT_BITS),
            },
            UNWOUND if payload & UNWOUND_MONITOR != 0 => Self::Released { lock },
            UNWOUND => Self::Unwound { regions: small },
            INITIALIZER if payload == INITIALIZER_BEGINS => Self::InitializerBegins,
            INITIALIZER if payload == INITIALIZER_ENDS => Self::InitializerEnds,
            IN => Self::In(Transaction::decode(payload)),
            FROM => Self::From(Transaction::decode(payload)),
            OWNED => Self::Owned {
                object: payload & low(OBJECT_BITS),
                thread: (payload >> OBJECT_BITS) as u32,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record() -> impl Strategy<Value = Record> {
        let site = 0u32..1 << SITE_BITS;
        let object = 0u64..1 << OBJECT_BITS;
        let thread = 0u32..1 << THREAD_BITS;
        let lock = 0u64..1 << LOCK_BITS;
        prop_oneof![
            (site.clone(), object.clone())
                .prop_map(|(site, object)| Record::Access { site, object }),
            (thread.clone(), 0u64..1 << POSITION_BITS)
                .prop_map(|(thread, position)| Record::Edge { thread, position }),
            (0usize..9, site.clone(), lock.clone()).prop_map(|(op, site, lock)| Record::Lock {
                op: LockOp::ALL[op],
                site,
                lock
            }),
            (thread.clone(), proptest::option::of(site.clone()))
                .prop_map(|(thread, site)| Record::Fork { thread, site }),
            (thread, proptest::option::of(site.clone()))
                .prop_map(|(thread, site)| Record::Join { thread, site }),
            any::<u32>().prop_map(|region| Record::Begin { region }),
            any::<u32>().prop_map(|region| Record::End { region }),
            any::<u32>().prop_map(|method| Record::Enter { method }),
            any::<u32>().prop_map(|method| Record::Exit { method }),
            any::<u32>().prop_map(|index| Record::Element { index }),
            (1u64..1 << OP_SHIFT).prop_map(|key| Record::Key { key }),
            (any::<u32>(), any::<bool>())
                .prop_map(|(field, is_static)| Record::Field { field, is_static }),
            Just(Record::Approximate),
            (lock.clone(), site.clone()).prop_map(|(lock, class)| Record::NewLock { lock, class }),
            lock.clone().prop_map(|lock| Record::GoneLock { lock }),
            (object.clone()).prop_map(|object| Record::GoneObject { object }),
            any::<u32>().prop_map(|regions| Record::Unwound { regions }),
            (lock.clone()).prop_map(|lock| Record::Released { lock }),
            Just(Record::InitializerBegins),
            Just(Record::InitializerEnds),
            (lock, site).prop_map(|(lock, class)| Record::NewClassLock { lock, class }),
            (object.clone(), 0u32..1 << CLASS_BITS)
                .prop_map(|(object, class)| Record::NewObject { object, class }),
            (object, 0u32..1 << CLASS_BITS)
                .prop_map(|(object, thread)| Record::Owned { object, thread }),
            (
                any::<bool>(),
                1u64..1 << POSITION_BITS,
                proptest::option::of(0u32..(1 << REGION_BITS) - 1)
            )
                .prop_map(|(inside, number, region)| {
                    let transaction = Transaction { number, region };
                    if inside {
                        Record::In(transaction)
                    } else {
                        Record::From(transaction)
                    }
                }),
        ]
    }

    proptest! {
        #[test]
        fn every_record_survives_its_bytes_and_none_is_zero(record in record()) {
            let bits = record.encode();
            prop_assert_ne!(bits, 0);
            prop_assert_eq!(Record::decode(bits), Some(record));
        }

        #[test]
        fn whatever_is_read_back_reads_the_same_again(bits in any::<u64>()) {
            if let Some(record) = Record::decode(bits) {
                prop_assert_eq!(Record::decode(record.encode()), Some(record));
            }
        }
    }

    #[test]
    fn zero_is_no_record() {
        assert_eq!(Record::decode(0), None);
    }
}
