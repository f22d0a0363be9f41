//! Lock expressions: interned access paths that always denote the same lock while they are in scope.
//!
//! A path starts at a [`Root`] and goes through final fields; its size is the number of field accesses.
//! As in the paper (`[LOCK EXP]`), paths beyond the size bound are not well formed, which makes the set of names at any point finite and the inference terminate.
//! Whoever adds a field to a path answers for that field being final.
//!
//! Names are equal only if they are the same path: two names may still denote one lock.
//! That is safe for every atomicity that does not grow when more locks are held, and all rules produce only such atomicities.

use rustc_hash::FxHashMap;

/// The paper's experiments found no use for longer paths.
pub const DEFAULT_MAX_SIZE: u8 = 4;

/// A lock name without a run-time value: the parameter of a class or of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ghost(u32);

/// A class whose class object serves as a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassName(u32);

/// A field that may occur in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldName(u32);

/// An interned lock expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock(pub(crate) u32);

/// Where a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    /// A parameter of the enclosing class or method that exists only in types.
    Ghost(Ghost),
    /// The class object, the lock of static synchronized methods; its fields are the static fields.
    Class(ClassName),
    /// The receiver.
    This,
    /// A formal parameter, receiver not counted.
    Param(u16),
    /// A value of the method body, in scope from its [`Bind`](crate::input::Effect::Bind) to the next.
    Local(u32),
    /// No lock at all: never held.
    None,
    /// Held by every thread at once, and therefore never a guard.
    AlwaysHeld,
    /// The lock that the current thread was born with.
    ThreadLocal,
}

/// One interned expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A path of size zero.
    Root(Root),
    /// A final field of the object that the base denotes.
    Field(Lock, FieldName),
    /// The read side of a read-write lock: held also by whoever holds the base, its write side.
    Shared(Lock),
    /// The monitor of an object whose plain name means its explicit lock.
    Monitor(Lock),
}

/// The table of all lock expressions.
#[derive(Clone, Debug)]
pub struct Locks {
    exprs: Vec<Expr>,
    ids: FxHashMap<Expr, Lock>,
    ghosts: Vec<String>,
    classes: Vec<String>,
    class_ids: FxHashMap<String, ClassName>,
    fields: Vec<(String, String)>,
    field_ids: FxHashMap<(String, String), FieldName>,
    max_size: u8,
}

impl Locks {
    /// `none`, interned first in every table.
    pub const NONE: Lock = Lock(0);
    /// `always_held`, interned in every table.
    pub const ALWAYS_HELD: Lock = Lock(1);
    /// `tll`, interned in every table.
    pub const TLL: Lock = Lock(2);
    /// `this`, interned in every table.
    pub const THIS: Lock = Lock(3);

    /// An empty table whose paths have at most `max_size` field accesses.
    pub fn new(max_size: u8) -> Locks {
        let mut locks = Locks {
            exprs: Vec::new(),
            ids: FxHashMap::default(),
            ghosts: Vec::new(),
            classes: Vec::new(),
            class_ids: FxHashMap::default(),
            fields: Vec::new(),
            field_ids: FxHashMap::default(),
            max_size,
        };
        for root in [Root::None, Root::AlwaysHeld, Root::ThreadLocal, Root::This] {
            locks.root(root);
        }
        locks
    }

    fn intern(&mut self, expr: Expr) -> Lock {
        let next = Lock(self.exprs.len() as u32);
        let id = *self.ids.entry(expr).or_insert(next);
        if id == next {
            self.exprs.push(expr);
        }
        id
    }

    /// The path of size zero.
    pub fn root(&mut self, root: Root) -> Lock {
        self.intern(Expr::Root(root))
    }

    /// The path one field longer; nothing beyond the size bound, and nothing from a special lock or a lock that is only a side of an object.
    pub fn field(&mut self, base: Lock, field: FieldName) -> Option<Lock> {
        let plain = !matches!(base, Self::NONE | Self::ALWAYS_HELD | Self::TLL)
            && !matches!(self.expr(base), Expr::Shared(_) | Expr::Monitor(_));
        (plain && self.size(base) < self.max_size).then(|| self.intern(Expr::Field(base, field)))
    }

    /// The read side of a read-write lock; a special lock is its own.
    pub fn shared(&mut self, base: Lock) -> Lock {
        if self.is_special(base) || matches!(self.expr(base), Expr::Shared(_)) {
            base
        } else {
            self.intern(Expr::Shared(base))
        }
    }

    /// The read side, if anything ever spoke of it.
    pub fn known_shared(&self, base: Lock) -> Option<Lock> {
        self.ids.get(&Expr::Shared(base)).copied()
    }

    /// The monitor of an explicit lock object; a special lock is its own.
    pub fn monitor(&mut self, base: Lock) -> Lock {
        if self.is_special(base) {
            base
        } else {
            self.intern(Expr::Monitor(base))
        }
    }

    /// A new ghost; ghosts of one name are different ghosts.
    pub fn ghost(&mut self, name: &str) -> Ghost {
        self.ghosts.push(name.to_owned());
        Ghost(self.ghosts.len() as u32 - 1)
    }

    /// The class of that name.
    pub fn class(&mut self, name: &str) -> ClassName {
        if let Some(&id) = self.class_ids.get(name) {
            return id;
        }
        let id = ClassName(self.classes.len() as u32);
        self.classes.push(name.to_owned());
        self.class_ids.insert(name.to_owned(), id);
        id
    }

    /// The field of that name declared in that class.
    pub fn field_name(&mut self, owner: &str, name: &str) -> FieldName {
        let key = (owner.to_owned(), name.to_owned());
        if let Some(&id) = self.field_ids.get(&key) {
            return id;
        }
        let id = FieldName(self.fields.len() as u32);
        self.fields.push(key.clone());
        self.field_ids.insert(key, id);
        id
    }

    /// The class and the name of a field, as they were given.
    pub fn field_parts(&self, field: FieldName) -> (&str, &str) {
        let (owner, name) = &self.fields[field.0 as usize];
        (owner, name)
    }

    /// The name of a class, as it was given.
    pub fn class_text(&self, class: ClassName) -> &str {
        &self.classes[class.0 as usize]
    }

    /// What stands behind an interned expression.
    pub fn expr(&self, lock: Lock) -> Expr {
        self.exprs[lock.0 as usize]
    }

    /// How many expressions the table holds.
    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Never: the special locks are always there.
    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    /// The number of field accesses, the paper's `|e|`.
    pub fn size(&self, lock: Lock) -> u8 {
        match self.expr(lock) {
            Expr::Root(_) => 0,
            Expr::Field(base, _) => self.size(base) + 1,
            Expr::Shared(base) | Expr::Monitor(base) => self.size(base),
        }
    }

    /// Where the path starts.
    pub fn root_of(&self, lock: Lock) -> Root {
        match self.expr(lock) {
            Expr::Root(root) => root,
            Expr::Field(base, _) | Expr::Shared(base) | Expr::Monitor(base) => self.root_of(base),
        }
    }

    /// The first field of the path, if it has one.
    pub fn first_field(&self, lock: Lock) -> Option<FieldName> {
        match self.expr(lock) {
            Expr::Root(_) => None,
            Expr::Field(base, field) => self.first_field(base).or(Some(field)),
            Expr::Shared(base) | Expr::Monitor(base) => self.first_field(base),
        }
    }

    /// The ghost, if the expression is one and nothing more.
    pub fn as_ghost(&self, lock: Lock) -> Option<Ghost> {
        match self.expr(lock) {
            Expr::Root(Root::Ghost(ghost)) => Some(ghost),
            _ => None,
        }
    }

    /// `none` and `always_held`, whose being held is no question.
    pub fn is_special(&self, lock: Lock) -> bool {
        lock == Self::NONE || lock == Self::ALWAYS_HELD
    }

    /// The same path from another start: `with` takes the place of the prefix `prefix`.
    /// Nothing if `prefix` is no prefix, or the result is not well formed.
    pub fn rebase(&mut self, lock: Lock, prefix: Lock, with: Lock) -> Option<Lock> {
        if lock == prefix {
            return Some(with);
        }
        match self.expr(lock) {
            Expr::Root(_) => None,
            Expr::Field(base, field) => {
                let base = self.rebase(base, prefix, with)?;
                self.field(base, field)
            }
            Expr::Shared(base) => {
                let base = self.rebase(base, prefix, with)?;
                Some(self.shared(base))
            }
            Expr::Monitor(base) => {
                let base = self.rebase(base, prefix, with)?;
                Some(self.monitor(base))
            }
        }
    }

    /// The order in which a printed type tests its locks: ghosts first, then longer paths before shorter ones, then by root and name.
    /// It depends on names only, so that a type always prints the same.
    pub fn presentation_key(&self, lock: Lock) -> (u8, u8, Root, String) {
        let root = self.root_of(lock);
        let class = u8::from(!matches!(root, Root::Ghost(_)));
        (
            class,
            u8::MAX - self.size(lock),
            root,
            self.describe(lock, &[]),
        )
    }

    /// The expression as the user writes it; parameters beyond `params` are called `arg0`, `arg1`, ….
    pub fn describe(&self, lock: Lock, params: &[String]) -> String {
        match self.expr(lock) {
            Expr::Root(Root::Ghost(ghost)) => self.ghosts[ghost.0 as usize].clone(),
            Expr::Root(Root::Class(class)) => format!("{}.class", self.classes[class.0 as usize]),
            Expr::Root(Root::This) => "this".to_owned(),
            Expr::Root(Root::Param(index)) => params
                .get(index as usize)
                .cloned()
                .unwrap_or_else(|| format!("arg{index}")),
            Expr::Root(Root::Local(index)) => format!("local{index}"),
            Expr::Root(Root::None) => "none".to_owned(),
            Expr::Root(Root::AlwaysHeld) => "always_held".to_owned(),
            Expr::Root(Root::ThreadLocal) => "tll".to_owned(),
            Expr::Field(base, field) => {
                let name = &self.fields[field.0 as usize].1;
                match self.expr(base) {
                    // A static field is written after its class, not after the class object.
                    Expr::Root(Root::Class(class)) => {
                        format!("{}.{name}", self.classes[class.0 as usize])
                    }
                    _ => format!("{}.{name}", self.describe(base, params)),
                }
            }
            Expr::Shared(base) => format!("{}.readLock()", self.describe(base, params)),
            Expr::Monitor(base) => format!("{}.monitor()", self.describe(base, params)),
        }
    }
}

impl Default for Locks {
    fn default() -> Self {
        Locks::new(DEFAULT_MAX_SIZE)
    }
}
