//! Declarations: what the ids in records stand for.
//!
//! Every kind has its own dense ids, given out by the agent in the JVM.
//! A declaration names only ids that were declared before, and is sent before the first record that needs it.

use crate::Error;

/// How a site touches its location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AccessKind {
    Read,
    Write,
    Update,
}

/// What a site accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// An instance field of the object in the record.
    Field(u32),
    /// A static field; the record's object means nothing.
    Static(u32),
    /// An array element; [`Record::Element`](crate::Record::Element) tells which.
    Element,
    /// What a collection or atomic holds: under the [`Record::Key`](crate::Record::Key) before it, or the whole.
    Content,
}

/// An instrumented access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub kind: AccessKind,
    pub target: Target,
    pub volatile: bool,
    /// A 64-bit access that the memory model lets tear.
    pub wide: bool,
    /// The site is coarser than what the program does, so nothing may be called observed because of it.
    pub approximate: bool,
}

/// One table entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Declaration {
    Class {
        id: u32,
        /// With dots; classes of several loaders may have one name.
        name: String,
        source_file: Option<String>,
        /// Of its class file, as the program has it; `None` for a class that is only named.
        hash: Option<u64>,
    },
    Field {
        id: u32,
        class: u32,
        name: String,
    },
    Method {
        id: u32,
        class: u32,
        name: String,
        descriptor: String,
    },
    Region {
        id: u32,
        method: u32,
        /// The number of a block in its method, from 1; `None` for the method itself.
        block: Option<u32>,
        /// 0 when unknown.
        line: u32,
    },
    Site {
        id: u32,
        method: u32,
        /// 0 when unknown.
        line: u32,
        /// `None` for lock operations and calls.
        access: Option<Access>,
    },
    Thread {
        id: u32,
        name: String,
    },
    /// A class named by the runtime; its ids are apart from those of [`Declaration::Class`].
    RuntimeClass {
        id: u32,
        name: String,
    },
    Key {
        id: u64,
        text: String,
    },
    /// The class file of a class, as the program has it; sent only if the reader asks for code.
    Code {
        class: u32,
        bytes: Vec<u8>,
    },
}

fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

impl Declaration {
    /// Appends the declaration's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Class {
                id,
                name,
                source_file,
                hash,
            } => {
                out.push(1);
                put_number(out, *id as u64);
                put_text(out, name);
                put_text(out, source_file.as_deref().unwrap_or(""));
                out.push(u8::from(hash.is_some()));
                if let Some(hash) = hash {
                    put_number(out, *hash);
                }
            }
            Self::Field { id, class, name } => {
                out.push(2);
                put_number(out, *id as u64);
                put_number(out, *class as u64);
                put_text(out, name);
            }
            Self::Method {
                id,
                class,
                name,
                descriptor,
            } => {
                out.push(3);
                put_number(out, *id as u64);
                put_number(out, *class as u64);
                put_text(out, name);
                put_text(out, descriptor);
            }
            Self::Region {
                id,
                method,
                block,
                line,
            } => {
                out.push(4);
                put_number(out, *id as u64);
                put_number(out, *method as u64);
                put_number(out, block.unwrap_or(0) as u64);
                put_number(out, *line as u64);
            }
            Self::Site {
                id,
                method,
                line,
                access,
            } => {
                out.push(5);
                put_number(out, *id as u64);
                put_number(out, *method as u64);
                put_number(out, *line as u64);
                put_access(out, access.as_ref());
            }
            Self::Thread { id, name } => {
                out.push(6);
                put_number(out, *id as u64);
                put_text(out, name);
            }
            Self::RuntimeClass { id, name } => {
                out.push(7);
                put_number(out, *id as u64);
                put_text(out, name);
            }
            Self::Key { id, text } => {
                out.push(8);
                put_number(out, *id);
                put_text(out, text);
            }
            Self::Code { class, bytes } => {
                out.push(9);
                put_number(out, u64::from(*class));
                put_number(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }

    /// Takes one declaration off the front of the bytes.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, Error> {
        let tag = take_byte(bytes)?;
        Ok(match tag {
            1 => Self::Class {
                id: take_id(bytes)?,
                name: take_text(bytes)?,
                source_file: Some(take_text(bytes)?).filter(|file| !file.is_empty()),
                hash: match take_byte(bytes)? {
                    0 => None,
                    _ => Some(take_number(bytes)?),
                },
            },
            2 => Self::Field {
                id: take_id(bytes)?,
                class: take_id(bytes)?,
                name: take_text(bytes)?,
            },
            3 => Self::Method {
                id: take_id(bytes)?,
                class: take_id(bytes)?,
                name: take_text(bytes)?,
                descriptor: take_text(bytes)?,
            },
            4 => Self::Region {
                id: take_id(bytes)?,
                method: take_id(bytes)?,
                block: Some(take_id(bytes)?).filter(|&block| block != 0),
                line: take_id(bytes)?,
            },
            5 => Self::Site {
                id: take_id(bytes)?,
                method: take_id(bytes)?,
                line: take_id(bytes)?,
                access: take_access(bytes)?,
            },
            6 => Self::Thread {
                id: take_id(bytes)?,
                name: take_text(bytes)?,
            },
            7 => Self::RuntimeClass {
                id: take_id(bytes)?,
                name: take_text(bytes)?,
            },
            8 => Self::Key {
                id: take_number(bytes)?,
                text: take_text(bytes)?,
            },
            9 => Self::Code {
                class: take_id(bytes)?,
                bytes: take_bytes(bytes)?.to_vec(),
            },
            _ => return Err(Error::Malformed("a declaration of an unknown kind")),
        })
    }
}

fn put_access(out: &mut Vec<u8>, access: Option<&Access>) {
    let Some(access) = access else {
        out.push(0);
        return;
    };
    let (tag, id) = match access.target {
        Target::Field(id) => (1, Some(id)),
        Target::Static(id) => (2, Some(id)),
        Target::Element => (3, None),
        Target::Content => (4, None),
    };
    out.push(tag);
    out.push(
        access.kind as u8
            | u8::from(access.volatile) << 2
            | u8::from(access.wide) << 3
            | u8::from(access.approximate) << 4,
    );
    if let Some(id) = id {
        put_number(out, id as u64);
    }
}

fn take_access(bytes: &mut &[u8]) -> Result<Option<Access>, Error> {
    let tag = take_byte(bytes)?;
    if tag == 0 {
        return Ok(None);
    }
    let flags = take_byte(bytes)?;
    let kind = match flags & 3 {
        0 => AccessKind::Read,
        1 => AccessKind::Write,
        2 => AccessKind::Update,
        _ => return Err(Error::Malformed("a site of an unknown kind")),
    };
    let target = match tag {
        1 => Target::Field(take_id(bytes)?),
        2 => Target::Static(take_id(bytes)?),
        3 => Target::Element,
        4 => Target::Content,
        _ => return Err(Error::Malformed("a site of an unknown kind")),
    };
    Ok(Some(Access {
        kind,
        target,
        volatile: flags & 4 != 0,
        wide: flags & 8 != 0,
        approximate: flags & 16 != 0,
    }))
}

fn take_byte(bytes: &mut &[u8]) -> Result<u8, Error> {
    let (&first, rest) = bytes
        .split_first()
        .ok_or(Error::Malformed("a declaration that ends in the middle"))?;
    *bytes = rest;
    Ok(first)
}

fn take_number(bytes: &mut &[u8]) -> Result<u64, Error> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        value |= ((byte & 0x7f) as u64) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Error::Malformed("a number that does not end"))
}

fn take_id(bytes: &mut &[u8]) -> Result<u32, Error> {
    u32::try_from(take_number(bytes)?).map_err(|_| Error::Malformed("an id beyond 32 bits"))
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Error> {
    let length = take_number(bytes)? as usize;
    let (taken, rest) = bytes
        .split_at_checked(length)
        .ok_or(Error::Malformed("a declaration that ends in the middle"))?;
    *bytes = rest;
    Ok(taken)
}

fn take_text(bytes: &mut &[u8]) -> Result<String, Error> {
    let text = take_bytes(bytes)?;
    // Names come from class files, where anything goes: what is not Unicode is replaced, not refused.
    Ok(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn access() -> impl Strategy<Value = Access> {
        let kind = prop_oneof![
            Just(AccessKind::Read),
            Just(AccessKind::Write),
            Just(AccessKind::Update)
        ];
        let target = prop_oneof![
            any::<u32>().prop_map(Target::Field),
            any::<u32>().prop_map(Target::Static),
            Just(Target::Element),
            Just(Target::Content)
        ];
        (kind, target, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(kind, target, volatile, wide, approximate)| Access {
                kind,
                target,
                volatile,
                wide,
                approximate,
            },
        )
    }

    fn declaration() -> impl Strategy<Value = Declaration> {
        let text = ".{0,40}";
        prop_oneof![
            (
                any::<u32>(),
                text,
                proptest::option::of(".{1,10}"),
                any::<Option<u64>>()
            )
                .prop_map(|(id, name, source_file, hash)| Declaration::Class {
                    id,
                    name,
                    source_file,
                    hash
                }),
            (any::<u32>(), any::<u32>(), text).prop_map(|(id, class, name)| Declaration::Field {
                id,
                class,
                name
            }),
            (any::<u32>(), any::<u32>(), text, text).prop_map(|(id, class, name, descriptor)| {
                Declaration::Method {
                    id,
                    class,
                    name,
                    descriptor,
                }
            }),
            (
                any::<u32>(),
                any::<u32>(),
                proptest::option::of(1u32..),
                any::<u32>()
            )
                .prop_map(|(id, method, block, line)| Declaration::Region {
                    id,
                    method,
                    block,
                    line
                }),
            (
                any::<u32>(),
                any::<u32>(),
                any::<u32>(),
                proptest::option::of(access())
            )
                .prop_map(|(id, method, line, access)| Declaration::Site {
                    id,
                    method,
                    line,
                    access
                }),
            (any::<u32>(), text).prop_map(|(id, name)| Declaration::Thread { id, name }),
            (any::<u32>(), text).prop_map(|(id, name)| Declaration::RuntimeClass { id, name }),
            (any::<u64>(), text).prop_map(|(id, text)| Declaration::Key { id, text }),
            (any::<u32>(), proptest::collection::vec(any::<u8>(), 0..40))
                .prop_map(|(class, bytes)| Declaration::Code { class, bytes }),
        ]
    }

    proptest! {
        #[test]
        fn declarations_survive_their_bytes(all in proptest::collection::vec(declaration(), 0..20)) {
            let mut bytes = Vec::new();
            for declaration in &all {
                declaration.encode(&mut bytes);
            }
            let mut rest = &bytes[..];
            for declaration in &all {
                prop_assert_eq!(&Declaration::decode(&mut rest).unwrap(), declaration);
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn garbage_is_an_error_or_a_declaration_but_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut rest = &bytes[..];
            while !rest.is_empty() && Declaration::decode(&mut rest).is_ok() {}
        }
    }
}
