//! Substitutions of lock expressions for the names of a callee, a field's owner or a superclass.

use crate::locks::{Expr, Lock, Locks, Root};

/// A map from roots to lock expressions.
///
/// A root that is mapped to nothing has no name on the other side: whatever tests it must be lifted.
/// The same holds for a receiver, parameter, ghost or local that is not mapped at all.
/// Class objects and the special locks mean the same everywhere and stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Substitution {
    map: Vec<(Root, Option<Lock>)>,
    keep: bool,
}

impl Substitution {
    /// Maps nothing; unmapped roots have no name on the other side.
    pub fn new() -> Substitution {
        Substitution::default()
    }

    /// Unmapped roots stay what they are.
    pub fn identity() -> Substitution {
        Substitution {
            map: Vec::new(),
            keep: true,
        }
    }

    /// Maps one more root; a later mapping of the same root replaces the earlier.
    pub fn with(mut self, root: Root, lock: impl Into<Option<Lock>>) -> Substitution {
        self.set(root, lock.into());
        self
    }

    /// Maps one root.
    pub fn set(&mut self, root: Root, lock: Option<Lock>) {
        match self.map.iter_mut().find(|(r, _)| *r == root) {
            Some(slot) => slot.1 = lock,
            None => self.map.push((root, lock)),
        }
    }

    /// The mapped roots.
    pub fn pairs(&self) -> &[(Root, Option<Lock>)] {
        &self.map
    }

    fn root(&self, locks: &mut Locks, root: Root) -> Option<Lock> {
        if let Some((_, lock)) = self.map.iter().find(|(r, _)| *r == root) {
            return *lock;
        }
        let global = matches!(
            root,
            Root::Class(_) | Root::None | Root::AlwaysHeld | Root::ThreadLocal
        );
        (global || self.keep).then(|| locks.root(root))
    }

    /// `θ(l)`, or nothing if the result has no well-formed name.
    pub fn apply(&self, locks: &mut Locks, lock: Lock) -> Option<Lock> {
        match locks.expr(lock) {
            Expr::Root(root) => self.root(locks, root),
            Expr::Field(base, field) => {
                let base = self.apply(locks, base)?;
                locks.field(base, field)
            }
            Expr::Shared(base) => {
                let base = self.apply(locks, base)?;
                Some(locks.shared(base))
            }
            Expr::Monitor(base) => {
                let base = self.apply(locks, base)?;
                Some(locks.monitor(base))
            }
        }
    }

    /// `θ⁻¹(l)`: all names that the substitution turns into `l` (section 7.2), in a fixed order.
    pub fn preimages(&self, locks: &mut Locks, lock: Lock) -> Vec<Lock> {
        let mut found = Vec::new();
        if self.apply(locks, lock) == Some(lock) {
            found.push(lock);
        }
        for &(root, target) in &self.map {
            let Some(target) = target else { continue };
            let name = locks.root(root);
            if let Some(source) = locks.rebase(lock, target, name)
                && self.apply(locks, source) == Some(lock)
                && !found.contains(&source)
            {
                found.push(source);
            }
        }
        found
    }
}
