//! Interned names and descriptors.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ids::Symbol;

/// The table of all names and descriptors met.
#[derive(Debug, Default)]
pub struct Names {
    set: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    /// The symbol of a name, new if it was not met before.
    pub fn intern(&mut self, name: &str) -> Symbol {
        match self.set.get_index_of(name) {
            Some(index) => Symbol::new(index),
            None => Symbol::new(self.set.insert_full(name.into()).0),
        }
    }

    /// The symbol of a name, if it was met before.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.set.get_index_of(name).map(Symbol::new)
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.set.get_index(symbol.index()).map_or("", |name| name)
    }
}
