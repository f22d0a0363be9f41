//! From programs to the input of the analysis.
//!
//! The soundness of every proof rests on this translation: whatever it is unsure of, it makes worse.
//! - Objects count as confined only while no other thread can have a reference (`fresh`), or if the points-to analysis shows that none ever has (`world`).
//! - A field is a step of a lock path only if it never changes once its object is known (`fields`).
//! - Elements of arrays and the content of unsynchronized collections have the guard of the field that owns them, and no guard if they are not owned (`content`).
//! - Calls run all methods that the call graph knows, in a library also those of every class that fits; anything else is compound (`world`, `models`).
//! - A method may be called with no lock held if anything outside the translated code can call it (`World::is_open`), or if it runs though no known call runs it (`versions`).
//! - Where the receiver of a call may be anything, every analyzed class that has objects answers (`dispatch`).
//!
//! What is taken for granted (`report::granted` tells users): class initialization is no step; reflection by names that are no constants, native code and deserialization do not access fields, which the program model counts as assumptions; clients access no fields but public ones and do not extend classes.

mod body;
mod confined;
mod content;
mod declared;
mod dispatch;
mod fields;
mod fixpoint;
mod fresh;
mod ghosts;
pub mod models;
mod names;
mod sites;
mod versions;
mod world;

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Type;
use untorn_program::{ClassId, FieldId, MethodId, Program, RegionId as Section};

use crate::algebra::Algebra;
use crate::annotations::{AnnotationError, Annotations, DeclaredGhosts, GhostNames, bodiless};
use crate::input::{
    self, Actuals, Discipline, Field, Flow, Guard, Method, Overrides, RegionId, Scope, Slot,
    ThreadStart, VisibleFields,
};
use crate::locks::{FieldName, Ghost, Lock, Locks, Root};
use body::Writer;
pub use confined::Confined;
use content::Content;
use declared::Declared;
use fields::{FieldFacts, has_wide_elements};
use fixpoint::Callers;
use fresh::{Shape, summarize};
use ghosts::{Choice, Families, Family, Ghosts, Internal, Origin};
use models::Models;
use names::class_lock;
pub use sites::{SiteInfo, Sites, What};
pub use versions::Key;
use versions::{Touched, find_judged, find_touched, find_versions};
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
    /// For every field of the input whether all its accesses are known, so that a guard can be checked.
    pub checkable: Vec<bool>,
    /// Lock fields of which it is not known that they exclude others.
    pub unsure: FxHashSet<FieldName>,
    /// Declared ghost parameters by name.
    pub ghost_names: GhostNames,
    ghosts: Ghosts,
}

pub(crate) struct Translator<'f, 'a> {
    world: &'f World<'a>,
    facts: &'f FieldFacts,
    content: &'f Content,
    touched: &'f Touched,
    ghosts: Ghosts,
    /// Ghosts that are declared; then there are no others.
    declared: Declared,
    locks: Locks,
    sites: Sites,
    ids: FxHashMap<Key, input::MethodId>,
    fields: Vec<FieldKey>,
    field_ids: FxHashMap<FieldKey, input::FieldId>,
    blocks: Vec<(Key, Block)>,
    known: FxHashMap<(ClassId, bool), Vec<Lock>>,
    used: UsedLocks,
    nests: &'f FxHashMap<String, Vec<ClassId>>,
}

/// What serves as a lock anywhere, by class and name.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsedLocks {
    fields: FxHashSet<(String, String)>,
    unsure_fields: FxHashSet<(String, String)>,
    classes: FxHashSet<String>,
}

/// A program as far as it is looked at before its bodies are written down.
#[derive(Debug)]
pub struct Front<'a> {
    world: World<'a>,
    shapes: FxHashMap<MethodId, Shape<'a>>,
    keys: Vec<Key>,
    facts: FieldFacts,
    content: Content,
    touched: Touched,
    families: Families,
    nests: FxHashMap<String, Vec<ClassId>>,
}

impl<'a> Front<'a> {
    /// Looks at a program.
    ///
    /// Methods without a body whose atomicity is declared become methods of the input too.
    pub fn new(program: &'a Program, options: Options, annotations: &Annotations) -> Front<'a> {
        let world = World::new(program, Models::embedded(), options);
        let callers = Callers::find(&world);
        let summaries = summarize(&world, &callers);
        let shapes: FxHashMap<MethodId, Shape<'a>> = world
            .methods
            .iter()
            .filter_map(|&method| Some((method, Shape::of(&world, method, &summaries)?)))
            .collect();
        let content = Content::find(&world, &callers, &shapes);
        let touched = find_touched(&world, &callers, &shapes, &content);
        let mut keys = find_versions(&world, &shapes, &touched);
        let facts = FieldFacts::find(&world, &shapes, &keys);
        keys.extend(find_judged(&world, &keys));
        keys.extend(
            bodiless(program, annotations)
                .into_iter()
                .map(Key::bodiless),
        );
        let families = Families::find(&world);
        let mut nests: FxHashMap<String, Vec<ClassId>> = FxHashMap::default();
        for class in world.table().class_ids() {
            if world.is_translated_class(class) {
                let nest = world::nest(world.table().class_name(class)).to_owned();
                nests.entry(nest).or_default().push(class);
            }
        }
        Front {
            world,
            shapes,
            keys,
            facts,
            content,
            touched,
            families,
            nests,
        }
    }

    /// The input, with ghosts where a discipline rests on them.
    ///
    /// `guards` finds the discipline of an input, or nothing if there is none.
    pub fn translate(
        &self,
        mut guards: impl FnMut(&mut Translation) -> Option<Discipline>,
    ) -> Translation {
        let all = self.without_ghosts();
        let (plain, used) = self.write(&all, &UsedLocks::default());
        let Some(mut choice) = self.settled(Choice::default(), &all, &used) else {
            return plain;
        };
        let several = self.families.with_choice(&self.world, &choice.off);
        if !several.is_empty() {
            let (mut probe, _) = self.write(&all, &used);
            if let Some(discipline) = guards(&mut probe) {
                choice.internal = Internal::find(&self.world, &several, &probe.fields, &discipline);
            }
        }
        let (mut translation, _) = self.write(&choice, &used);
        let Some(discipline) = guards(&mut translation) else {
            return plain;
        };
        let unused = translation
            .ghosts
            .unused(&translation.algebra.locks, &discipline);
        // Ghosts that nothing rests on would only make types harder to read; written anew in any case, since `guards` may have changed it.
        choice.off.extend(unused);
        match self.settled(choice, &all, &used) {
            Some(choice) => self.write(&choice, &used).0,
            None => plain,
        }
    }

    fn without_ghosts(&self) -> Choice {
        Choice {
            off: (0..self.families.count).map(Family).collect(),
            internal: Internal::default(),
        }
    }

    /// The input with the ghosts that are declared.
    pub fn translate_declared(
        &self,
        declared: &DeclaredGhosts<'_>,
        annotations: &Annotations,
    ) -> Result<Translation, AnnotationError> {
        let mut translator = self.translator(&self.without_ghosts(), &UsedLocks::default());
        let names = |method| annotations.parameter_names(method).to_vec();
        translator.declare_ghosts(declared, &names)?;
        translator.ghost_flows(&self.shapes)?;
        Ok(self.written(translator).0)
    }

    /// The choice with as many families switched off as it takes for the rest to have ghosts that fit; nothing if no family is left.
    fn settled(&self, mut choice: Choice, all: &Choice, used: &UsedLocks) -> Option<Choice> {
        while choice.off.len() < all.off.len() {
            let mut translator = self.translator(&choice, used);
            let (slots, _) = translator.settle_ghosts();
            let ghosts = &translator.ghosts;
            let hopeless = ghosts.hopeless(&slots);
            let lost: FxHashSet<Family> = ghosts.lost.union(&hopeless).copied().collect();
            if lost.is_empty() {
                return Some(choice);
            }
            choice.off.extend(lost);
        }
        None
    }

    fn translator(&self, choice: &Choice, used: &UsedLocks) -> Translator<'_, 'a> {
        let mut locks = Locks::default();
        let (world, facts) = (&self.world, &self.facts);
        let ghosts = Ghosts::find(
            world,
            facts,
            &self.shapes,
            &mut locks,
            &self.families,
            choice,
        );
        let ids = self.keys.iter().enumerate();
        Translator {
            world,
            facts,
            content: &self.content,
            touched: &self.touched,
            ghosts,
            declared: Declared::default(),
            locks,
            sites: Sites::default(),
            ids: ids
                .map(|(index, &key)| (key, input::MethodId(index as u32)))
                .collect(),
            fields: Vec::new(),
            field_ids: FxHashMap::default(),
            blocks: Vec::new(),
            known: FxHashMap::default(),
            used: used.clone(),
            nests: &self.nests,
        }
    }

    fn write(&self, choice: &Choice, used: &UsedLocks) -> (Translation, UsedLocks) {
        self.written(self.translator(choice, used))
    }

    fn written(&self, mut translator: Translator<'_, 'a>) -> (Translation, UsedLocks) {
        let graphs: Vec<Option<input::Graph>> = self
            .keys
            .iter()
            .map(|&key| {
                let shape = self.shapes.get(&key.method)?;
                Some(Writer::write(&mut translator, key, shape))
            })
            .collect();
        let used = translator.used.clone();
        (translator.finish(self, graphs), used)
    }
}

impl Translator<'_, '_> {
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

    fn finish(mut self, front: &Front<'_>, graphs: Vec<Option<input::Graph>>) -> Translation {
        let keys = &front.keys;
        let mut program = input::Program::default();
        let mut checkable = Vec::new();
        for key in self.fields.clone() {
            let field = self.input_field(key);
            program.fields.push(field);
            checkable.push(self.is_checkable(key.field));
        }
        for (&key, body) in keys.iter().zip(graphs) {
            let method = self.input_method(key, body);
            program.methods.push(method);
        }
        let heap = self.world.program.heap();
        for spawn in heap.spawns() {
            let method = heap.node(spawn.root).method;
            let key = Key::general(self.world.table(), method);
            if let Some(run) = self.method(key) {
                let site = self.sites.add(method, 0, What::Entry);
                program.threads.push(ThreadStart { run, site });
            }
        }
        if self.declared.is_empty() {
            program.classes = self.ghosts.input_classes(&front.families);
            (program.slots, program.flows) = self.settle_ghosts();
            program.allocations = self.ghosts.allocations();
            program.internal = self.ghosts.internal_slots();
        } else {
            program.classes = self.declared.classes();
            program.slots = std::mem::take(&mut self.declared.slots);
            program.flows = std::mem::take(&mut self.declared.flows);
            program.allocations = std::mem::take(&mut self.declared.allocations);
        }
        let unsure = (self.used.unsure_fields.iter())
            .map(|(owner, name)| self.locks.field_name(owner, name))
            .collect();
        Translation {
            input: program,
            algebra: Algebra::new(self.locks),
            sites: self.sites,
            methods: keys.clone(),
            fields: self.fields,
            shared_content: self.content.spilled().clone(),
            blocks: self.blocks,
            checkable,
            unsure,
            ghost_names: self.declared.names,
            ghosts: self.ghosts,
        }
    }

    fn settle_ghosts(&mut self) -> (Vec<Slot>, Vec<Flow>) {
        let known = self
            .ghosts
            .origins()
            .into_iter()
            .map(|origin| match origin {
                Origin::Field(field) => {
                    let info = self.world.table().field(field);
                    let (class, is_static) = (info.class, info.flags.is_static());
                    let mut known = self.candidates(class, is_static);
                    known.extend(self.own_ghost(class, is_static));
                    known
                }
                Origin::Method(method) | Origin::New(method) => self.may_hold(method),
                Origin::Value | Origin::Nothing => Vec::new(),
            })
            .collect();
        let mut ghosts = std::mem::take(&mut self.ghosts);
        let settled = ghosts.settle(&mut self.locks, known);
        self.ghosts = ghosts;
        settled
    }

    /// The ghost of an object's class, as its own code names it.
    ///
    /// Code that internally synchronized objects run makes no use of theirs: it may be `always_held`, and then what rested on it would rest on nothing.
    fn own_ghost(&mut self, class: ClassId, is_static: bool) -> Option<Lock> {
        if self.ghosts.internal().is_above(class) {
            return None;
        }
        let ghost = self.ghosts.ghost_of(class).filter(|_| !is_static)?;
        Some(self.locks.root(Root::Ghost(ghost)))
    }

    /// The locks that a method's scope knows.
    fn may_hold(&mut self, method: MethodId) -> Vec<Lock> {
        let info = self.world.table().method(method);
        let is_static = info.flags.is_static();
        let mut found = self.candidates(info.class, is_static);
        found.extend(self.own_ghost(info.class, is_static));
        for (index, ty) in info.params.iter().enumerate() {
            if ty.is_reference() {
                found.push(self.locks.root(Root::Param(index as u16)));
            }
        }
        for (_, ghost) in self.ghosts.params_of(method, info.params.len()) {
            found.push(self.locks.root(Root::Ghost(ghost)));
        }
        for ghost in self.ghosts_in_scope(method) {
            let ghost = self.locks.root(Root::Ghost(ghost));
            if !found.contains(&ghost) {
                found.push(ghost);
            }
        }
        found
    }

    /// Whether all code that accesses a field is translated, in the open.
    fn is_checkable(&self, field: FieldId) -> bool {
        let class = self.world.table().field(field).class;
        self.world.is_translated_class(class) && !self.world.is_exposed(field)
    }

    /// Methods without a body that the method implements, if they are in the input.
    fn overridden(&mut self, key: Key, has_body: bool) -> Vec<Overrides> {
        let classes = self.world.table();
        if !has_body || key != Key::general(self.world.table(), key.method) {
            return Vec::new();
        }
        let (name, descriptor) = (
            classes.method_name(key.method),
            classes.method_descriptor(key.method),
        );
        let class = classes.method(key.method).class;
        let mut found = Vec::new();
        for &above in classes.supertypes(class) {
            let method = classes.declared_method(above, name, descriptor);
            let method = method.filter(|&method| method != key.method);
            let Some(method) = method.and_then(|method| self.method(Key::bodiless(method))) else {
                continue;
            };
            let args = self.supertype_args(class, above);
            let ghosts = self.declared.of_class(above).iter();
            let ghosts = ghosts.map(|(_, ghost)| Root::Ghost(*ghost)).zip(args);
            found.push(Overrides {
                method,
                ghosts: Actuals(ghosts.collect()),
            });
        }
        found
    }

    fn input_field(&mut self, key: FieldKey) -> Field {
        let classes = self.world.table();
        let info = classes.field(key.field);
        let volatile = info.flags.is_volatile();
        let open = !self.is_checkable(key.field);
        let (wide, fixed) = if key.content {
            let wide = info
                .ty
                .class()
                .is_some_and(|class| has_wide_elements(self.world, class));
            (wide, None)
        } else {
            let wide = matches!(info.ty, Type::Long | Type::Double) && !volatile;
            let fixed = if self.facts.is_final(self.world, key.field) {
                Some(Guard::Final)
            } else if open {
                Some(Guard::NoGuard)
            } else {
                None
            };
            (wide, fixed)
        };
        let mut candidates = Vec::new();
        if fixed.is_none() {
            candidates = self.candidates(info.class, info.flags.is_static());
            candidates.extend(self.own_ghost(info.class, info.flags.is_static()));
        }
        Field {
            owner: if self.declared.is_empty() {
                Ghosts::input_class(self.ghosts.family_of_class(info.class))
            } else {
                self.declared.class_id(info.class)
            },
            wide,
            fixed,
            candidates,
        }
    }

    /// The locks that a class may guard its fields with, in its own terms: itself, its final fields, its class objects and their final fields, as far as anything locks them.
    fn candidates(&mut self, class: ClassId, is_static: bool) -> Vec<Lock> {
        if let Some(known) = self.known.get(&(class, is_static)) {
            return known.clone();
        }
        let mut found = if is_static {
            Vec::new()
        } else {
            let mut own = self.ghost_locks(class);
            own.push(Locks::THIS);
            own
        };
        let classes = self.world.table();
        let mut owners: Vec<ClassId> = classes.superclasses(class).collect();
        let mates = self.nests.get(world::nest(classes.class_name(class)));
        owners.extend(mates.into_iter().flatten().filter(|&&other| other != class));
        for owner in owners {
            if !self.world.is_translated_class(owner) {
                continue;
            }
            let owner_name = names::dotted(classes.class_name(owner));
            for &field in &classes.class(owner).fields {
                let info = classes.field(field);
                let used = (owner_name.clone(), classes.field_name(field).to_owned());
                let locked =
                    self.used.fields.contains(&used) && !self.used.unsure_fields.contains(&used);
                let inside = self.lock_fields_of(info.ty.class());
                if !locked && inside.is_empty() || !self.facts.is_final(self.world, field) {
                    continue;
                }
                let base = if info.flags.is_static() {
                    class_lock(self.world, &mut self.locks, owner)
                } else if is_static || !classes.is_subtype(class, owner) {
                    continue;
                } else {
                    Locks::THIS
                };
                let step = self.step(field);
                let path = self.locks.field(base, step);
                found.extend(path.filter(|_| locked));
                // One step further: the lock of a lock's wrapper.
                for field in inside {
                    let step = self.step(field);
                    found.extend(path.and_then(|path| self.locks.field(path, step)));
                }
            }
            if self.used.classes.contains(&owner_name) {
                found.push(class_lock(self.world, &mut self.locks, owner));
            }
        }
        self.known.insert((class, is_static), found.clone());
        found
    }

    /// The final fields of an analyzed class that anything locks.
    fn lock_fields_of(&self, class: Option<ClassId>) -> Vec<FieldId> {
        let classes = self.world.table();
        let Some(class) = class.filter(|&class| self.world.program.is_input(class)) else {
            return Vec::new();
        };
        let fields = (classes.superclasses(class))
            .filter(|&of| self.world.is_translated_class(of))
            .flat_map(|of| classes.class(of).fields.iter().copied());
        fields
            .filter(|&field| {
                let info = classes.field(field);
                let owner = names::dotted(classes.class_name(info.class));
                let used = (owner, classes.field_name(field).to_owned());
                !info.flags.is_static()
                    && self.used.fields.contains(&used)
                    && !self.used.unsure_fields.contains(&used)
                    && self.facts.is_final(self.world, field)
            })
            .collect()
    }

    fn input_method(&mut self, key: Key, body: Option<input::Graph>) -> Method {
        let classes = self.world.table();
        let info = classes.method(key.method);
        let has_this = !info.flags.is_static();
        let open =
            self.world.is_open(key.method) && key == Key::general(self.world.table(), key.method);
        let mut may_hold = Vec::new();
        if !open {
            may_hold = self.may_hold(key.method);
        }
        let own = self.ghosts.ghost_of(info.class).filter(|_| has_this);
        let params = self.ghosts.params_of(key.method, info.params.len());
        let ghosts = own.into_iter().chain(params.into_iter().map(|(_, g)| g));
        let ghosts: Vec<Ghost> = ghosts.chain(self.ghosts_in_scope(key.method)).collect();
        Method {
            scope: Scope {
                this: has_this,
                params: info.params.len() as u16,
                ghosts,
                fields: VisibleFields::Any,
            },
            overrides: self.overridden(key, body.is_some()),
            body,
            declared: None,
            open,
            may_hold,
            holds: Vec::new(),
        }
    }
}
