//! Places in the program, as the analysis numbers them.

use rustc_hash::FxHashMap;
use untorn_program::{FieldId, MethodId};

use crate::input::Site;
use crate::locks::Lock;

/// What happens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Nothing of interest.
    Entry,
    /// A field is accessed.
    Access { field: FieldId, write: bool },
    /// The elements or content that a field owns are accessed.
    Elements { field: FieldId, write: bool },
    /// Elements or content that others may know too are accessed, reached through the field if it is known.
    Unowned { field: Option<FieldId>, write: bool },
    /// Elements or content that a stranger passed are accessed.
    Passed { write: bool },
    /// A lock is taken.
    Acquire(Lock),
    /// A lock is given back.
    Release(Lock),
    /// A method of the program is called.
    Call(MethodId),
    /// A library method is called, and it is known what it does.
    Library(MethodId),
    /// A library method is called that nobody has described, or that calls back what nobody has seen.
    Unmodelled(MethodId),
    /// A method is called of which some implementation is not known.
    Unknown(MethodId),
    /// Values are turned into text by methods of their own.
    Text,
    /// A dynamic call site that is not understood.
    Dynamic,
}

/// A place.
#[derive(Debug, Clone, Copy)]
pub struct SiteInfo {
    /// The method.
    pub method: MethodId,
    /// The source line; 0 if the class file does not say.
    pub line: u16,
    /// What happens there.
    pub what: What,
}

/// All places.
#[derive(Debug, Default)]
pub struct Sites {
    all: Vec<SiteInfo>,
    contents: FxHashMap<Site, (FieldId, bool)>,
}

impl Sites {
    pub(super) fn add(&mut self, method: MethodId, line: u16, what: What) -> Site {
        self.all.push(SiteInfo { method, line, what });
        Site(self.all.len() as u32 - 1)
    }

    /// The call of a library method at this place accesses, and perhaps writes, what a field holds.
    pub(super) fn add_content(&mut self, site: Site, field: FieldId, write: bool) {
        self.contents.insert(site, (field, write));
    }

    /// The field whose content a library method accesses here, and whether it may write it.
    pub fn content(&self, site: Site) -> Option<(FieldId, bool)> {
        self.contents.get(&site).copied()
    }

    /// A place by its number.
    pub fn get(&self, site: Site) -> Option<&SiteInfo> {
        self.all.get(site.0 as usize)
    }
}
