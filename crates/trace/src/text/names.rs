//! From the tokens of a text trace to the ids of its tables.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use untorn_model::{
    Class, ClassId, Lock, LockId, LockKind, Method, MethodId, Object, ObjectId, Part, Region,
    RegionId, RegionKind, Site, SiteId, StrId, Tables, Thread, ThreadId, Var, VarId,
};

use super::grammar::{self, Fault};

/// Why a token got no id.
pub enum Refusal {
    Fault(Fault),
    TooMany(&'static str),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Tokens of one namespace with their ids, found by bytes: a known token was valid text when it came in.
#[derive(Debug, Default)]
struct Tokens {
    bytes: Vec<u8>,
    entries: HashTable<Token>,
}

#[derive(Debug)]
struct Token {
    start: usize,
    len: u32,
    id: u32,
}

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}

impl Tokens {
    /// The id of a token, made by `make` when it is new.
    #[inline]
    fn id<'t>(
        &mut self,
        token: &'t [u8],
        make: impl FnOnce(&'t [u8]) -> Result<u32, Refusal>,
    ) -> Result<u32, Refusal> {
        let key = hash(token);
        let bytes = &self.bytes;
        let text = |t: &Token| &bytes[t.start..t.start + t.len as usize];
        if let Some(known) = self.entries.find(key, |t| text(t) == token) {
            return Ok(known.id);
        }
        let id = make(token)?;
        let entry = Token {
            start: self.bytes.len(),
            len: token.len() as u32,
            id,
        };
        self.bytes.extend_from_slice(token);
        let bytes = &self.bytes;
        self.entries.insert_unique(key, entry, |t| {
            hash(&bytes[t.start..t.start + t.len as usize])
        });
        Ok(id)
    }
}

/// All namespaces of a text trace.
#[derive(Debug, Default)]
pub struct Names {
    pub tables: Tables,
    /// The thread of the line before, which most lines share.
    last_thread: (Vec<u8>, ThreadId),
    threads: Tokens,
    vars: Tokens,
    objects: Tokens,
    locks: Tokens,
    signals: Tokens,
    regions: Tokens,
    methods: Tokens,
    classes: Tokens,
    sites: Tokens,
}

fn text(tables: &mut Tables, text: &str) -> Result<StrId, Refusal> {
    (tables.strings.intern(text)).ok_or(Refusal::TooMany("names"))
}

impl Names {
    #[inline]
    pub fn running_thread(&mut self, token: &[u8]) -> Result<ThreadId, Refusal> {
        if self.last_thread.0 == token {
            return Ok(self.last_thread.1);
        }
        let id = self.thread(token)?;
        self.last_thread.0.clear();
        self.last_thread.0.extend_from_slice(token);
        self.last_thread.1 = id;
        Ok(id)
    }

    pub fn thread(&mut self, token: &[u8]) -> Result<ThreadId, Refusal> {
        let tables = &mut self.tables;
        let id = self.threads.id(token, |token| {
            let name = text(tables, grammar::thread_name(token)?)?;
            let id = tables.threads.push(Thread { name });
            id.map(|id| id.0).ok_or(Refusal::TooMany("threads"))
        })?;
        Ok(ThreadId(id))
    }

    /// A location belongs to the object before its last dot or bracket.
    #[inline]
    pub fn var(&mut self, token: &[u8]) -> Result<VarId, Refusal> {
        let (tables, objects) = (&mut self.tables, &mut self.objects);
        let id = self.vars.id(token, |token| {
            let name = grammar::name(token)?;
            let (holder, rest) = name.split_at(name.rfind(['.', '[']).unwrap_or(name.len()));
            let object = objects.id(holder.as_bytes(), |_| {
                let name = Some(text(tables, holder)?);
                let id = tables.objects.push(Object { class: None, name });
                id.map(|id| id.0).ok_or(Refusal::TooMany("objects"))
            })?;
            let var = Var {
                object: ObjectId(object),
                part: Part::Text(text(tables, rest)?),
            };
            (tables.add_var(var).map(|id| id.0)).ok_or(Refusal::TooMany("locations"))
        })?;
        Ok(VarId(id))
    }

    #[inline]
    pub fn lock(&mut self, token: &[u8]) -> Result<LockId, Refusal> {
        Self::synchronizer(&mut self.tables, &mut self.locks, LockKind::Monitor, token)
    }

    /// Signals have names of their own: a latch is no lock.
    pub fn signal(&mut self, token: &[u8]) -> Result<LockId, Refusal> {
        let kind = LockKind::Synchronizer;
        Self::synchronizer(&mut self.tables, &mut self.signals, kind, token)
    }

    #[inline]
    fn synchronizer(
        tables: &mut Tables,
        known: &mut Tokens,
        kind: LockKind,
        token: &[u8],
    ) -> Result<LockId, Refusal> {
        let id = known.id(token, |token| {
            let name = text(tables, grammar::name(token)?)?;
            let object = None;
            let id = tables.locks.push(Lock { kind, object, name });
            id.map(|id| id.0).ok_or(Refusal::TooMany("locks"))
        })?;
        Ok(LockId(id))
    }

    /// An empty token is the anonymous region.
    pub fn region(&mut self, token: &[u8]) -> Result<RegionId, Refusal> {
        if token.is_empty() {
            return Ok(RegionId::ANONYMOUS);
        }
        let tables = &mut self.tables;
        let id = self.regions.id(token, |token| {
            let name = text(tables, grammar::name(token)?)?;
            let id = tables.regions.push(Region {
                kind: RegionKind::Method,
                method: None,
                name,
                site: SiteId::UNKNOWN,
            });
            id.map(|id| id.0).ok_or(Refusal::TooMany("regions"))
        })?;
        Ok(RegionId(id))
    }

    /// A method is a class, a name and a descriptor where its token has them.
    pub fn method(&mut self, token: &[u8]) -> Result<MethodId, Refusal> {
        let (tables, classes) = (&mut self.tables, &mut self.classes);
        let id = self.methods.id(token, |token| {
            let name = grammar::name(token)?;
            let (full, descriptor) = name.split_at(name.find('(').unwrap_or(name.len()));
            let (class, method) = match full.rsplit_once('.') {
                // A dot that begins the name belongs to it: printing must give the token back.
                Some((class, method)) if !class.is_empty() => (class, method),
                _ => ("", full),
            };
            let class = classes.id(class.as_bytes(), |_| {
                let name = text(tables, class)?;
                let source_file = None;
                let id = tables.classes.push(Class { name, source_file });
                id.map(|id| id.0).ok_or(Refusal::TooMany("classes"))
            })?;
            let method = Method {
                class: ClassId(class),
                name: text(tables, method)?,
                descriptor: text(tables, descriptor)?,
            };
            let id = tables.methods.push(method);
            id.map(|id| id.0).ok_or(Refusal::TooMany("methods"))
        })?;
        Ok(MethodId(id))
    }

    /// `File.java:12` is a file and a line where that prints the same again; `?` is no place.
    #[inline]
    pub fn site(&mut self, token: &[u8]) -> Result<SiteId, Refusal> {
        if token == b"?" {
            return Ok(SiteId::UNKNOWN);
        }
        let tables = &mut self.tables;
        let id = self.sites.id(token, |token| {
            let name = grammar::location_name(token)?;
            let (file, line) = file_and_line(name).unwrap_or((name, 0));
            let file = Some(text(tables, file)?);
            let method = None;
            let id = tables.sites.push(Site { method, file, line });
            id.map(|id| id.0).ok_or(Refusal::TooMany("sites"))
        })?;
        Ok(SiteId(id))
    }
}

fn file_and_line(token: &str) -> Option<(&str, u32)> {
    let (file, digits) = token.rsplit_once(':')?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    let line = digits.parse().ok()?;
    (plain && !file.is_empty()).then_some((file, line))
}
