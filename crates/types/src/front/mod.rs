//! From programs to the input of the analysis.
//!
//! The soundness of every proof rests on this translation: whatever it is unsure of, it makes worse.
//! - Objects count as confined only while no other thread can have a reference (`fresh`), or if the points-to analysis shows that none ever has (`world`).
//! - A field is a step of a lock path only if it never changes once its object is known (`fields`).
//! - Elements of arrays and the content of unsynchronized collections have the guard of the field that owns them, and no guard if they are not owned (`content`).
//! - Calls run all methods that the call graph knows, in a library also those of every class that fits; anything else is compound (`world`, `models`).
//! - A method may be called with no lock held if anything outside the translated code can call it (`World::is_open`).
//!
//! What is taken for granted: class initialization is no step; reflection, native code and deserialization do not access fields, which the program model counts as assumptions; clients do not access fields and do not extend classes.

mod body;
mod content;
mod fields;
mod fresh;
pub mod models;
mod names;
mod sites;
mod versions;
mod world;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Type;
use untorn_program::{ClassId, FieldId, MethodId, Program, RegionId as Section};

use crate::algebra::Algebra;
use crate::input::{self, Field, Guard, Method, RegionId, Scope, ThreadStart, VisibleFields};
use crate::locks::{ClassName, FieldName, Lock, Locks, Root};
use body::Writer;
use content::Content;
use fields::{FieldFacts, has_wide_elements};
use fresh::{Shape, summarize};
use models::{BadModel, Models};
use names::class_lock;
pub use sites::{SiteInfo, Sites, What};
pub use versions::Key;
use versions::{Touched, find_touched, find_versions};
use world::World;

/// What a translation takes for granted besides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// `equals`, `hashCode`, `compareTo` and `toString` of objects nobody has seen touch nothing that changes.
    pub pure_values: bool,
    /// Library code that the program model enters is typed by its bytecode, not known by its model.
    pub analyze_jdk: bool,
}

/// A field of the input: a field of the program, or what it owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldKey {
    pub field: FieldId,
    pub content: bool,
}

/// A synchronized block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    pub method: MethodId,
    /// From 1, in the order of the code.
    pub number: u32,
    pub line: u16,
}

/// The input of the analysis, and what its numbers stand for.
#[derive(Debug)]
pub struct Translation {
    /// The input.
    pub input: input::Program,
    /// The lock expressions of the input.
    pub algebra: Algebra,
    /// What the places stand for.
    pub sites: Sites,
    /// The methods of the input.
    pub methods: Vec<Key>,
    /// The fields of the input.
    pub fields: Vec<FieldKey>,
    /// Fields whose content others may hold too, with the method and line that gives it away; line 0 if no single one does.
    pub shared_content: FxHashMap<FieldId, (MethodId, u16)>,
    /// The synchronized blocks; a region's number is the index.
    pub blocks: Vec<(Key, Block)>,
}

pub(crate) struct Translator<'a> {
    world: World<'a>,
    facts: FieldFacts,
    content: Content,
    touched: Touched,
    locks: Locks,
    sites: Sites,
    ids: FxHashMap<Key, input::MethodId>,
    fields: Vec<FieldKey>,
    field_ids: FxHashMap<FieldKey, input::FieldId>,
    blocks: Vec<(Key, Block)>,
    lock_fields: FxHashSet<FieldName>,
    unsure_fields: FxHashSet<FieldName>,
    lock_classes: FxHashSet<ClassName>,
}

/// Translates a program.
pub fn translate(program: &Program, options: Options) -> Result<Translation, BadModel> {
    let models = Models::embedded()?;
    let world = World::new(program, &models, options);
    let summaries = summarize(&world);
    let shapes: FxHashMap<MethodId, Shape<'_>> = world
        .methods
        .iter()
        .filter_map(|&method| Some((method, Shape::of(&world, method, &summaries)?)))
        .collect();
    let keys = find_versions(&world, &shapes);
    let facts = FieldFacts::find(&world, &shapes, &keys);
    let content = Content::find(&world, &shapes);
    let touched = find_touched(&world, &shapes, &content);
    let ids = keys
        .iter()
        .enumerate()
        .map(|(index, &key)| (key, input::MethodId(index as u32)))
        .collect();
    let mut translator = Translator {
        world,
        facts,
        content,
        touched,
        locks: Locks::default(),
        sites: Sites::default(),
        ids,
        fields: Vec::new(),
        field_ids: FxHashMap::default(),
        blocks: Vec::new(),
        lock_fields: FxHashSet::default(),
        unsure_fields: FxHashSet::default(),
        lock_classes: FxHashSet::default(),
    };
    let graphs: Vec<Option<input::Graph>> = keys
        .iter()
        .map(|&key| {
            let shape = shapes.get(&key.method)?;
            Some(Writer::write(&mut translator, key, shape))
        })
        .collect();
    Ok(translator.finish(&keys, graphs))
}

impl Translator<'_> {
    fn method(&self, key: Key) -> Option<input::MethodId> {
        self.ids.get(&key).copied()
    }

    fn field(&mut self, field: FieldId) -> input::FieldId {
        self.field_key(FieldKey {
            field,
            content: false,
        })
    }

    /// What a field owns, as a field of its own.
    fn content_of(&mut self, field: FieldId) -> input::FieldId {
        self.field_key(FieldKey {
            field,
            content: true,
        })
    }

    fn field_key(&mut self, key: FieldKey) -> input::FieldId {
        let next = input::FieldId(self.fields.len() as u32);
        let id = *self.field_ids.entry(key).or_insert(next);
        if id == next {
            self.fields.push(key);
        }
        id
    }

    fn region(&mut self, key: Key, shape: &Shape<'_>, section: Section) -> RegionId {
        let locks = self.world.program.locks(key.method);
        let is_monitor = |index: &usize| {
            locks.regions()[*index].lock.kind == untorn_program::locks::LockKind::Monitor
        };
        let number = (0..=section.index()).filter(is_monitor).count() as u32;
        let line = shape.body.instr(locks.region(section).enter).line;
        let block = Block {
            method: key.method,
            number,
            line,
        };
        self.blocks.push((key, block));
        RegionId(self.blocks.len() as u32 - 1)
    }

    fn finish(mut self, keys: &[Key], graphs: Vec<Option<input::Graph>>) -> Translation {
        let mut program = input::Program::default();
        for key in self.fields.clone() {
            let field = self.input_field(key);
            program.fields.push(field);
        }
        for (&key, body) in keys.iter().zip(graphs) {
            let method = self.input_method(key, body);
            program.methods.push(method);
        }
        let heap = self.world.program.heap();
        for spawn in heap.spawns() {
            let method = heap.node(spawn.root).method;
            let key = Key::general(&self.world, method);
            if let Some(run) = self.method(key) {
                let site = self.sites.add(method, 0, What::Entry);
                program.threads.push(ThreadStart { run, site });
            }
        }
        program.classes.push(input::Class::default());
        Translation {
            input: program,
            algebra: Algebra::new(self.locks),
            sites: self.sites,
            methods: keys.to_vec(),
            fields: self.fields,
            shared_content: self.content.into_spilled(),
            blocks: self.blocks,
        }
    }

    fn input_field(&mut self, key: FieldKey) -> Field {
        let classes = self.world.table();
        let info = classes.field(key.field);
        let volatile = info.flags.is_volatile();
        let translated = self.world.is_translated_class(info.class);
        let open = !translated || self.world.is_exposed(key.field);
        let (wide, fixed) = if key.content {
            let wide = info
                .ty
                .class()
                .is_some_and(|class| has_wide_elements(&self.world, class));
            (wide, None)
        } else {
            let wide = matches!(info.ty, Type::Long | Type::Double) && !volatile;
            let fixed = if self.facts.is_final(&self.world, key.field) {
                Some(Guard::Final)
            } else if open || volatile {
                Some(Guard::NoGuard)
            } else {
                None
            };
            (wide, fixed)
        };
        let candidates = if fixed.is_some() {
            Vec::new()
        } else {
            self.candidates(info.class, info.flags.is_static())
        };
        Field {
            owner: input::ClassId(0),
            wide,
            fixed,
            candidates,
        }
    }

    /// The locks that a class may guard its fields with, in its own terms: itself, its final fields, its class objects and their final fields, as far as anything locks them.
    fn candidates(&mut self, class: ClassId, is_static: bool) -> Vec<Lock> {
        let mut found = if is_static {
            Vec::new()
        } else {
            vec![Locks::THIS]
        };
        let classes = self.world.table();
        let mut owners: Vec<ClassId> = classes.superclasses(class).collect();
        let own = classes
            .class_name(class)
            .split('$')
            .next()
            .unwrap_or_default();
        owners.extend(classes.class_ids().filter(|&other| {
            other != class
                && self.world.is_translated_class(other)
                && classes.class_name(other).split('$').next() == Some(own)
        }));
        for owner in owners {
            if !self.world.is_translated_class(owner) {
                continue;
            }
            for &field in &classes.class(owner).fields {
                let info = classes.field(field);
                let step = self.step(field);
                let locked =
                    self.lock_fields.contains(&step) && !self.unsure_fields.contains(&step);
                if !locked || !self.facts.is_final(&self.world, field) {
                    continue;
                }
                let base = if info.flags.is_static() {
                    class_lock(&self.world, &mut self.locks, owner)
                } else if is_static || !classes.is_subtype(class, owner) {
                    continue;
                } else {
                    Locks::THIS
                };
                found.extend(self.locks.field(base, step));
            }
            let name = self.locks.class(&names::dotted(classes.class_name(owner)));
            if self.lock_classes.contains(&name) {
                found.push(self.locks.root(Root::Class(name)));
            }
        }
        found
    }

    fn input_method(&mut self, key: Key, body: Option<input::Graph>) -> Method {
        let classes = self.world.table();
        let info = classes.method(key.method);
        let has_this = !info.flags.is_static();
        let open = self.world.is_open(key.method) && key == Key::general(&self.world, key.method);
        let mut may_hold = Vec::new();
        if !open {
            may_hold = self.candidates(info.class, info.flags.is_static());
            for (index, ty) in info.params.iter().enumerate() {
                if ty.is_reference() {
                    may_hold.push(self.locks.root(Root::Param(index as u16)));
                }
            }
        }
        Method {
            scope: Scope {
                this: has_this,
                params: info.params.len() as u16,
                ghosts: Vec::new(),
                fields: VisibleFields::Any,
            },
            body,
            declared: None,
            overrides: Vec::new(),
            open,
            may_hold,
            holds: Vec::new(),
        }
    }
}
