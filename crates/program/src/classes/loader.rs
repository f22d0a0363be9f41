//! Loading classes in rounds: the files of a round are read and parsed in parallel, the tables grow between rounds.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::parse::ParsedClass;
use super::table::{ClassKind, Classes, Field, Flags, Method};
use crate::assumptions::{Assumption, Assumptions};
use crate::error::LoadError;
use crate::ids::ClassId;
use crate::load::{ClassPath, InputFile, Limits, Origin};

/// More supertypes than any real class has: what is deeper is cut, so that hostile chains stay linear.
const MOST_ANCESTORS: usize = 4096;

/// Fills the tables from a class path.
#[derive(Debug)]
pub struct Loader {
    /// The tables.
    pub classes: Classes,
    /// What was assumed so far.
    pub assumptions: Assumptions,
    path: ClassPath,
    limits: Limits,
    bytes_read: u64,
}

impl Loader {
    /// A loader with empty tables.
    pub fn new(path: ClassPath, limits: Limits, assumptions: Assumptions) -> Self {
        Self {
            classes: Classes::new(),
            assumptions,
            path,
            limits,
            bytes_read: 0,
        }
    }

    /// Where classes come from.
    pub fn path(&self) -> &ClassPath {
        &self.path
    }

    /// The id of a class by its internal name, loaded or not.
    pub fn class_named(&mut self, internal: &str) -> ClassId {
        self.classes.intern_class(internal)
    }

    /// Loads every class of the inputs with its supertypes; gives their ids in a fixed order.
    pub fn load_inputs(&mut self) -> Result<Vec<ClassId>, LoadError> {
        let files = self.path.input_files();
        // Counted while they are read: an archive of a few bytes can hold more than fits into memory.
        let bytes_read = AtomicU64::new(0);
        let limit = self.limits.class_total_bytes;
        let parsed: Vec<_> = files
            .par_iter()
            .map(|file| {
                if bytes_read.load(Ordering::Relaxed) > limit {
                    return Err(too_many_bytes(file.place(), limit));
                }
                let found = self.path.read_input(file)?;
                bytes_read.fetch_add(found.bytes.len() as u64, Ordering::Relaxed);
                let parsed =
                    ParsedClass::read(found).map_err(|(path, error)| LoadError::BadClass {
                        path,
                        offset: error.offset as usize,
                        reason: error.kind.to_string(),
                    })?;
                Ok((file.expected_name(), parsed))
            })
            .collect();
        if bytes_read.load(Ordering::Relaxed) > limit {
            let place = files.last().map_or_else(PathBuf::new, InputFile::place);
            return Err(too_many_bytes(place, limit));
        }
        let named_alone: Vec<bool> = files.iter().map(InputFile::is_named_alone).collect();
        let mut inputs = Vec::new();
        for (result, named_alone) in parsed.into_iter().zip(named_alone) {
            let (expected, parsed): (Option<String>, ParsedClass) = match result {
                Ok(read) => read,
                // A file the user named must be good; one of many may be bad.
                Err(error) if named_alone => return Err(error),
                Err(error) => {
                    self.assumptions
                        .add(Assumption::UnreadableClass, error.to_string());
                    continue;
                }
            };
            if expected.is_some_and(|expected| expected != parsed.name) {
                self.assumptions.add(
                    Assumption::MisnamedClass,
                    parsed.place.display().to_string(),
                );
            }
            let id = self.classes.intern_class(&parsed.name);
            if self.classes.class(id).kind == ClassKind::Named {
                self.account(&parsed)?;
                self.insert(id, parsed);
                inputs.push(id);
            } else {
                let again = format!("{} in {}", parsed.name, parsed.place.display());
                self.assumptions.add(Assumption::DuplicateClass, again);
            }
        }
        self.complete(&inputs);
        Ok(inputs)
    }

    /// Loads a class by the name a user writes, with dots or slashes.
    pub fn load_named(&mut self, name: &str) -> Result<ClassId, LoadError> {
        let class = self.classes.intern_class(&name.replace('.', "/"));
        self.load([class]);
        match self.classes.class(class).kind {
            ClassKind::Loaded => Ok(class),
            _ => Err(LoadError::ClassNotFound {
                name: name.to_owned(),
            }),
        }
    }

    /// As [`Self::load_named`], and the class is analyzed.
    pub fn load_as_input(&mut self, name: &str) -> Result<ClassId, LoadError> {
        let class = self.load_named(name)?;
        self.classes.table[class.index()].origin = Origin::Input;
        Ok(class)
    }

    /// Sees to it that these classes are loaded with all their supertypes, or known to be missing.
    pub fn load(&mut self, wanted: impl IntoIterator<Item = ClassId>) {
        let mut wanted: Vec<ClassId> = wanted
            .into_iter()
            .map(|class| self.element_class(class))
            .collect();
        wanted.retain(|class| self.classes.class(*class).kind == ClassKind::Named);
        wanted.sort_unstable();
        wanted.dedup();
        let fresh = self.load_closure(wanted);
        self.link_ancestors(&fresh);
    }

    /// Loads the supertypes of classes that were just inserted.
    fn complete(&mut self, inserted: &[ClassId]) {
        let supers = inserted
            .iter()
            .flat_map(|class| self.direct_supertypes(*class))
            .collect();
        let mut fresh = self.load_closure(supers);
        fresh.extend_from_slice(inserted);
        self.link_ancestors(&fresh);
    }

    /// Reads classes and their supertypes, round by round; gives all that were newly read or found missing.
    fn load_closure(&mut self, mut wanted: Vec<ClassId>) -> Vec<ClassId> {
        let mut fresh = Vec::new();
        loop {
            wanted.retain(|class| self.classes.class(*class).kind == ClassKind::Named);
            wanted.sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                return fresh;
            }
            let read: Vec<_> = wanted.par_iter().map(|class| self.read(*class)).collect();
            let mut next = Vec::new();
            for (class, result) in wanted.iter().zip(read) {
                fresh.push(*class);
                match result
                    .and_then(|parsed| self.account(&parsed).map(|()| parsed).map_err(|_| None))
                {
                    Ok(parsed) => {
                        self.insert(*class, parsed);
                        next.extend(self.direct_supertypes(*class));
                    }
                    Err(unreadable) => {
                        if let Some(reason) = unreadable {
                            self.assumptions.add(Assumption::UnreadableClass, reason);
                        }
                        self.miss(*class);
                    }
                }
            }
            wanted = next;
        }
    }

    /// Reads one class; the error is `None` if it is nowhere.
    fn read(&self, class: ClassId) -> Result<ParsedClass, Option<String>> {
        let name = self.classes.class_name(class);
        let found = self
            .path
            .find(name)
            .map_err(|error| Some(error.to_string()))?
            .ok_or(None)?;
        let parsed = ParsedClass::read(found)
            .map_err(|(place, error)| Some(format!("{}: {error}", place.display())))?;
        if parsed.name == name {
            Ok(parsed)
        } else {
            Err(Some(format!(
                "{} holds a class named {}",
                parsed.place.display(),
                parsed.name
            )))
        }
    }

    fn account(&mut self, parsed: &ParsedClass) -> Result<(), LoadError> {
        self.bytes_read += parsed.bytes.len() as u64;
        if self.bytes_read > self.limits.class_total_bytes {
            let limit = self.limits.class_total_bytes;
            return Err(too_many_bytes(parsed.place.clone(), limit));
        }
        Ok(())
    }

    fn insert(&mut self, id: ClassId, parsed: ParsedClass) {
        let superclass = parsed
            .superclass
            .as_deref()
            .map(|name| self.classes.intern_class(name));
        let interfaces = parsed
            .interfaces
            .iter()
            .map(|name| self.classes.intern_class(name))
            .collect();
        let source_file = parsed
            .source_file
            .as_deref()
            .map(|name| self.classes.names.intern(name));
        let object = self.classes.well_known.object;
        let class = &mut self.classes.table[id.index()];
        class.kind = ClassKind::Loaded;
        class.origin = parsed.origin;
        class.flags = Flags(parsed.access);
        class.superclass = superclass
            .or((id != object).then_some(object))
            .filter(|superclass| *superclass != id);
        class.interfaces = interfaces;
        class.generic = parsed.generic;
        class.nameable = parsed.nameable;
        class.source_file = source_file;
        class.place = parsed.place;
        class.bytes = parsed.bytes;
        for field in &parsed.fields {
            let ty = self.classes.field_type(&field.descriptor);
            let name = self.classes.names.intern(&field.name);
            let descriptor = self.classes.names.intern(&field.descriptor);
            let flags = Flags(field.access);
            self.classes.add_field(Field {
                class: id,
                name,
                descriptor,
                flags,
                ty,
                missing: false,
            });
        }
        for (position, method) in parsed.methods.iter().enumerate() {
            let (params, returns) = self.classes.method_type(&method.descriptor);
            let name = self.classes.names.intern(&method.name);
            let descriptor = self.classes.names.intern(&method.descriptor);
            self.classes.add_method(Method {
                class: id,
                name,
                descriptor,
                flags: Flags(method.access),
                params,
                returns,
                has_code: method.has_code,
                missing: false,
                position: position as u32,
            });
        }
    }

    fn miss(&mut self, id: ClassId) {
        let object = self.classes.well_known.object;
        let class = &mut self.classes.table[id.index()];
        class.kind = ClassKind::Missing;
        class.superclass = (id != object).then_some(object);
        let name = self.classes.class_name(id).to_owned();
        self.assumptions.add(Assumption::MissingClass, name);
    }

    fn element_class(&self, mut class: ClassId) -> ClassId {
        while let ClassKind::Array(Some(component)) = self.classes.class(class).kind {
            class = component;
        }
        class
    }

    fn direct_supertypes(&self, class: ClassId) -> Vec<ClassId> {
        let class = self.classes.class(class);
        class
            .superclass
            .iter()
            .chain(&class.interfaces)
            .copied()
            .collect()
    }

    /// Computes the ancestors of new classes, supertypes first, and cuts cycles.
    fn link_ancestors(&mut self, fresh: &[ClassId]) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Open,
            Done,
        }
        let mut states: FxHashMap<ClassId, Option<State>> =
            fresh.iter().map(|class| (*class, None)).collect();
        // Iterative, since hostile hierarchies are deeper than the call stack.
        for start in fresh {
            let mut stack = vec![*start];
            while let Some(class) = stack.last().copied() {
                match states.get(&class).copied() {
                    None | Some(Some(State::Done)) => {
                        stack.pop();
                    }
                    Some(None) => {
                        states.insert(class, Some(State::Open));
                        for above in self.direct_supertypes(class) {
                            match states.get(&above) {
                                Some(None) => stack.push(above),
                                Some(Some(State::Open)) => self.cut(class, above),
                                Some(Some(State::Done)) | None => {}
                            }
                        }
                    }
                    Some(Some(State::Open)) => {
                        stack.pop();
                        states.insert(class, Some(State::Done));
                        self.close_ancestors(class);
                    }
                }
            }
        }
    }

    fn close_ancestors(&mut self, class: ClassId) {
        let mut ancestors = vec![class];
        for above in self.direct_supertypes(class) {
            let inherited = &self.classes.class(above).ancestors;
            if ancestors.len() + inherited.len() > MOST_ANCESTORS {
                self.cut(class, above);
            } else {
                ancestors.extend_from_slice(inherited);
            }
        }
        ancestors.sort_unstable();
        ancestors.dedup();
        self.classes.table[class.index()].ancestors = ancestors.into();
    }

    /// Takes away the link from a class to a supertype that is its own subtype.
    fn cut(&mut self, class: ClassId, above: ClassId) {
        let object = self.classes.well_known.object;
        let entry = &mut self.classes.table[class.index()];
        entry.interfaces.retain(|interface| *interface != above);
        if entry.superclass == Some(above) {
            entry.superclass = (class != object && above != object).then_some(object);
        }
        let name = self.classes.class_name(class).to_owned();
        self.assumptions.add(Assumption::CyclicHierarchy, name);
    }
}

fn too_many_bytes(path: PathBuf, limit: u64) -> LoadError {
    LoadError::TooLarge {
        path,
        limit,
        what: "bytes in all classes",
    }
}
