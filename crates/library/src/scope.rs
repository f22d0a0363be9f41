//! What is known of whole classes: which code is entered, which need a context, which are values.

/// Lists of classes by internal name, or of what their names begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Beginnings of the names of library classes whose code is not read; the longest that fits decides.
    pub opaque: &'static [&'static str],
    /// Beginnings of the names of those whose code is.
    pub entered: &'static [&'static str],
    /// Beginnings of the names of classes that are analyzed once per receiver object.
    pub containers: &'static [&'static str],
    /// Kinds of collection.
    pub collections: &'static [&'static str],
    /// Classes all of whose instances are one abstract object; one that ends with `/` is a package.
    pub merged: &'static [&'static str],
    /// Methods whose effect is not followed, `CLASS.NAME` or `CLASS.*`.
    pub reflection: &'static [&'static str],
    /// Beginnings of the names of classes that do input or output.
    pub io: &'static [&'static str],
    /// Classes whose content belongs to one thread at a time.
    pub thread_local: &'static [&'static str],
    /// What threads and executors run.
    pub tasks: &'static [&'static str],
    /// Classes whose `equals`, `hashCode`, `compareTo` and `toString` touch nothing that changes.
    pub values: &'static [&'static str],
    /// Collections that take no locks and run nobody's code when they are walked through.
    pub plain: &'static [&'static str],
    /// Classes that change and whose methods take no lock.
    pub unlocked: &'static [&'static str],
    /// Superclasses whose constructors do nothing with their object.
    pub quiet_constructors: &'static [&'static str],
}

/// The lists.
pub fn scope() -> &'static Scope {
    &SCOPE
}

include!(concat!(env!("OUT_DIR"), "/scope.rs"));
