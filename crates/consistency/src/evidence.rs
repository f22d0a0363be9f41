//! Findings as a person reads them: names, places, threads, allocation sites.

mod message;
mod own;
mod proportion;

use std::cell::RefCell;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use untorn_classfile::{ClassFile, facts_of};
use untorn_findings::{Evidence, Finding, Kind, LockView, MethodViews, Place, Region, Verdict};
use untorn_program::heap::ObjectKind;
use untorn_program::ir::{AccessPath, Body, Root, Step};
use untorn_program::library::LockMode;
use untorn_program::locks::{LockRef, Locks, MethodLock};
use untorn_program::threads::{Multiplicity, ThreadKind};
use untorn_program::{ClassId, InstrId, MethodId, Program, ThreadId, ValueId};
use untorn_spec::{ClassFacts, Specification, Stage};

use crate::domain::{Entry, Variables, overlap};
use crate::execution::{Execution, Section, StateId};
use crate::groups::PartId;
use crate::report::{Candidate, Checker};

/// The name of the analysis.
const NAME: &str = "consistency";
/// How many views of a method, over classes and threads, a finding shows.
const MOST_METHOD_VIEWS: usize = 8;
/// How many lock views a finding shows.
const MOST_VIEWS: usize = 6;
/// How many methods that have one lock view a finding shows.
const MOST_ORIGINS: usize = 2;
/// How many states are searched for an access to show.
const MOST_SEARCHED: usize = 500;
/// How many accesses of a lock view are shown with their place.
const MOST_PLACES: usize = 4;
/// How many methods with larger views a finding names.
const MOST_NAMED: usize = 5;
/// How many callers a finding shows.
const MOST_ENCLOSING: usize = 8;
/// How many allocation sites a finding shows.
const MOST_ALLOCATIONS: usize = 8;

/// Writes findings.
#[derive(Debug)]
pub struct Writer<'a> {
    program: &'a Program,
    variables: &'a Variables,
    executions: &'a [Execution],
    checker: &'a Checker<'a>,
    spec: &'a Specification,
    facts: RefCell<FxHashMap<ClassId, Option<ClassFacts>>>,
    known: Known,
}

/// What was found out once.
type Memo<K, V> = RefCell<FxHashMap<K, V>>;

/// What was found out already: findings about one class speak of the same few lock views.
#[derive(Debug, Default)]
struct Known {
    notes: RefCell<FxHashMap<MethodId, Option<String>>>,
    accesses: Memo<(usize, StateId, Section, Entry), Option<Place>>,
    allocated: Memo<(ThreadId, Vec<ClassId>), Vec<Place>>,
}

impl<'a> Writer<'a> {
    /// Writes about what a checker found.
    pub fn new(
        program: &'a Program,
        variables: &'a Variables,
        executions: &'a [Execution],
        checker: &'a Checker<'a>,
        spec: &'a Specification,
    ) -> Self {
        Self {
            program,
            variables,
            executions,
            checker,
            spec,
            facts: RefCell::default(),
            known: Known::default(),
        }
    }

    /// One finding per method, in the order of their names.
    pub fn findings(&self, candidates: &[Candidate]) -> Vec<Finding> {
        let mut by_method: IndexMap<MethodId, Vec<&Candidate>, FxBuildHasher> = IndexMap::default();
        for candidate in candidates {
            by_method
                .entry(candidate.method)
                .or_default()
                .push(candidate);
        }
        let mut findings: Vec<Finding> = by_method
            .into_iter()
            .map(|(method, candidates)| self.finding(method, &candidates))
            .collect();
        findings.sort_by(|a, b| a.region.cmp(&b.region));
        findings
    }

    fn finding(&self, method: MethodId, candidates: &[&Candidate]) -> Finding {
        let mut views: Vec<MethodViews> = Vec::new();
        let mut larger: Vec<MethodId> = Vec::new();
        let mut seen: FxHashSet<(usize, PartId)> = FxHashSet::default();
        for candidate in candidates {
            let hidden = candidate.larger.iter().filter(|of| **of != method);
            larger.extend(hidden);
            if !seen.insert((candidate.execution, candidate.part)) || seen.len() > MOST_METHOD_VIEWS
            {
                continue;
            }
            let view = self.method_views(candidate);
            let same =
                |known: &&mut MethodViews| (&known.class, &known.view) == (&view.class, &view.view);
            match views.iter_mut().find(same) {
                Some(known) if known.thread.contains(&view.thread) => {}
                Some(known) => known.thread = format!("{}, {}", known.thread, view.thread),
                None => views.push(view),
            }
        }
        let mut callers: Vec<MethodId> = Vec::new();
        for caller in candidates.iter().flat_map(|candidate| &candidate.callers) {
            if callers.len() < MOST_ENCLOSING && !callers.contains(caller) {
                callers.push(*caller);
            }
        }
        let mut notes = Vec::new();
        if let Some(note) = self.region_note(method) {
            notes.push(note);
        }
        larger.sort_unstable();
        larger.dedup();
        if !larger.is_empty() {
            notes.push(self.larger_note(&larger));
        }
        let region = self.region(method);
        let outer = candidates.first().and_then(|of| self.outer_lock(of));
        let message = views.first().map_or_else(String::new, |views| {
            message::message(&region, views, outer.as_deref())
        });
        let mut evidence = Evidence {
            method_views: views,
            enclosing: callers
                .into_iter()
                .map(|caller| self.region(caller))
                .collect(),
            notes,
            ..Evidence::default()
        };
        proportion::shorten(&mut evidence);
        Finding::new(
            NAME,
            Kind::MethodInconsistency,
            Verdict::Suspected,
            region,
            message,
            evidence,
        )
    }

    /// Which inconsistent methods the filter `smallest` has left out for this one.
    fn larger_note(&self, methods: &[MethodId]) -> String {
        let mut names: Vec<String> = Vec::new();
        for method in methods {
            let name = self.region(*method).short_name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let shown = names.len().min(MOST_NAMED);
        let more = match names.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = names[..shown].join(", ");
        format!("inconsistent as well, with more fields: {shown}{more}")
    }

    fn method_views(&self, candidate: &Candidate) -> MethodViews {
        let class = self.checker.grouping.class(candidate.group);
        let execution = &self.executions[candidate.execution];
        MethodViews {
            class: class.map_or_else(|| "*".to_owned(), |class| self.dotted(class)),
            library: class.is_some_and(|class| !self.program.is_input(class)),
            view: self.entries(&self.checker.view(candidate.part)),
            thread: self.thread(execution),
            sections: self.sections(candidate),
            interfering: self.interfering(candidate),
            allocated_at: self.allocated_at(candidate),
        }
    }

    /// The lock views of broken pairs, the first of each pair and the second in turn.
    fn interfering(&self, candidate: &Candidate) -> Vec<LockView> {
        let own = self.checker.view(candidate.part);
        let mut shown: Vec<usize> = Vec::new();
        for (left, right) in candidate.broken.iter() {
            for index in [*left, *right] {
                if shown.len() < MOST_VIEWS && !shown.contains(&index) {
                    shown.push(index);
                }
            }
        }
        let mut views = Vec::new();
        for index in shown {
            let Some(((_, view), lock_views)) = self.checker.lock_views.get_index(index) else {
                continue;
            };
            let common = overlap(view, &own);
            let mut methods: FxHashSet<MethodId> = FxHashSet::default();
            for (execution, state, section) in &lock_views.origins {
                if methods.len() >= MOST_ORIGINS {
                    break;
                }
                let node = self.executions[*execution].state(*state).node;
                let method = self.program.heap().node(node).method;
                if methods.insert(method) {
                    views.push(self.lock_view(*execution, *state, *section, &common));
                }
            }
        }
        views
    }

    fn lock_view(&self, number: usize, id: StateId, section: Section, view: &[Entry]) -> LockView {
        let execution = &self.executions[number];
        let state = execution.state(id);
        let method = self.program.heap().node(state.node).method;
        let locks = self.program.locks(method);
        let mut places = Vec::new();
        let lock = match section {
            Section::Method => {
                places.extend(self.place(method, InstrId(0)));
                self.method_lock(locks)
            }
            Section::Region(region) => {
                let region = locks.region(region);
                places.extend(self.place(method, region.enter));
                self.lock(method, &region.lock)
            }
            Section::Retaken(gap) => {
                let gap = locks.gaps()[gap as usize];
                places.extend(self.place(method, gap.at));
                let lock = match gap.of {
                    Some(region) => self.lock(method, &locks.region(region).lock),
                    None => self.method_lock(locks),
                };
                format!("{lock} (taken again)")
            }
            Section::Step(instr) => {
                places.extend(self.place(method, instr));
                "its own (one step)".to_owned()
            }
        };
        for entry in view.iter().take(MOST_PLACES) {
            let key = (number, id, section, *entry);
            let mut known = self.known.accesses.borrow_mut();
            let place = known
                .entry(key)
                .or_insert_with(|| self.access(execution, id, section, *entry));
            if let Some(place) = place.clone()
                && !places.contains(&place)
            {
                places.push(place);
            }
        }
        LockView {
            method: self.region(method),
            lock,
            accesses: self.entries(view),
            places,
            thread: self.thread(execution),
        }
    }

    fn method_lock(&self, locks: &Locks) -> String {
        match locks.method_lock() {
            Some(MethodLock::Class(class)) => format!("{}.class", self.simple(class)),
            _ => "this".to_owned(),
        }
    }

    /// Where an access happens in the scope of a section, nearest first.
    fn access(
        &self,
        execution: &Execution,
        id: StateId,
        section: Section,
        entry: Entry,
    ) -> Option<Place> {
        let mut met: FxHashSet<StateId> = FxHashSet::default();
        let mut pending = std::collections::VecDeque::from([(id, Some(section))]);
        while let Some((id, within)) = pending.pop_front() {
            let state = execution.state(id);
            let method = self.program.heap().node(state.node).method;
            let locks = self.program.locks(method);
            let inside = |instr: &InstrId| {
                within.is_none_or(|section| Execution::is_in(locks, section, *instr))
            };
            let own = (state.accesses.iter()).find(|(at, of)| *of == entry && inside(at));
            if let Some((instr, _)) = own {
                return self.place(method, *instr);
            }
            for (instr, callee) in &state.calls {
                if inside(instr) && met.len() < MOST_SEARCHED && met.insert(*callee) {
                    pending.push_back((*callee, None));
                }
            }
        }
        None
    }

    fn allocated_at(&self, candidate: &Candidate) -> Vec<Place> {
        let program = self.program;
        let classes = program.classes();
        let mut owners: Vec<ClassId> = (self.checker.view(candidate.part).iter())
            .map(|entry| self.variables.get(entry.variable()).class(classes))
            .collect();
        owners.sort_unstable();
        owners.dedup();
        let key = (self.executions[candidate.execution].thread, owners);
        if let Some(known) = self.known.allocated.borrow().get(&key) {
            return known.clone();
        }
        let (thread, owners) = &key;
        let accessed = program.sharing().accessed_by(*thread);
        let mut places = Vec::new();
        for object in program.sharing().shared().iter() {
            let info = program.heap().object(object);
            let fits = (owners.iter()).any(|owner| classes.is_subtype(info.class, *owner));
            if !fits || !accessed.contains(object) || places.len() >= MOST_ALLOCATIONS {
                continue;
            }
            let place = match info.kind {
                ObjectKind::Allocated { method, instr, .. } => self.place(method, instr),
                _ => None,
            };
            if let Some(place) = place
                && !places.contains(&place)
            {
                places.push(place);
            }
        }
        let mut known = self.known.allocated.borrow_mut();
        known.insert(key, places.clone());
        places
    }

    /// Whether a method of the program ought to be atomic, as far as anybody said.
    pub fn is_asked_for(&self, method: MethodId) -> bool {
        let class = self.program.classes().method(method).class;
        self.program.is_input(class) && self.region_note(method).is_none()
    }

    /// That a method is reported although nobody said it ought to be atomic.
    fn region_note(&self, method: MethodId) -> Option<String> {
        if let Some(known) = self.known.notes.borrow().get(&method) {
            return known.clone();
        }
        let note = self.find_region_note(method);
        self.known.notes.borrow_mut().insert(method, note.clone());
        note
    }

    fn find_region_note(&self, method: MethodId) -> Option<String> {
        let classes = self.program.classes();
        let class = classes.method(method).class;
        let mut facts = self.facts.borrow_mut();
        let facts = facts
            .entry(class)
            .or_insert_with(|| {
                let parsed = ClassFile::parse(&classes.class(class).bytes).ok()?;
                facts_of(&parsed).ok()
            })
            .as_ref()?;
        let own = facts.methods.iter().find(|own| {
            own.name == classes.method_name(method)
                && own.descriptor == classes.method_descriptor(method)
        })?;
        let mut own = own.clone();
        own.interrupts |= self.program.waits(method);
        own.is_shared = self.program.is_called_by_several(method);
        let decision = self.spec.decide(Stage::Check, facts, &own, None);
        (!decision.atomic).then(|| {
            format!(
                "the specification does not ask that it be atomic ({})",
                decision.rule
            )
        })
    }

    fn entries(&self, view: &[Entry]) -> Vec<String> {
        let name = |entry: &Entry| {
            let variable = self.variables.get(entry.variable());
            let name = variable.name(self.program.classes());
            let access = if entry.is_write() { "write" } else { "read" };
            format!("{name}: {access}")
        };
        let mut names: Vec<String> = view.iter().map(name).collect();
        names.sort();
        names
    }

    fn thread(&self, execution: &Execution) -> String {
        let name = self.thread_alone(execution.thread);
        match execution.others {
            0 => name,
            others => format!("{name} and {others} more"),
        }
    }

    fn thread_alone(&self, id: ThreadId) -> String {
        let thread = self.program.threads().thread(id);
        let task = match thread.kind {
            ThreadKind::Main => return "main".to_owned(),
            ThreadKind::Clients => return "clients".to_owned(),
            ThreadKind::Initializers => return "class initializers".to_owned(),
            ThreadKind::Constructors => return "constructors".to_owned(),
            ThreadKind::Started(task) => self.program.heap().object(task),
        };
        let mut name = match task.kind {
            ObjectKind::Lambda { method, .. } => {
                let classes = self.program.classes();
                let class = self.simple(classes.method(method).class);
                format!("lambda of {class}.{}", classes.method_name(method))
            }
            _ => self.simple(task.class),
        };
        if thread.multiplicity == Multiplicity::Many {
            name.push_str(" (many)");
        }
        let site = thread.start_sites.iter().find_map(|(node, instr)| {
            let place = self.place(self.program.heap().node(*node).method, *instr)?;
            Some(format!(" started at {}:{}", place.file?, place.line?))
        });
        name + &site.unwrap_or_default()
    }

    fn region(&self, method: MethodId) -> Region {
        let classes = self.program.classes();
        let place = self.place(method, InstrId(0)).unwrap_or_default();
        Region {
            class: Some(self.dotted(classes.method(method).class)),
            method: classes.method_name(method).to_owned(),
            descriptor: Some(classes.method_descriptor(method).to_owned()),
            file: place.file,
            line: place.line,
            ..Region::default()
        }
    }

    /// The place of an instruction; `None` if the method has no body.
    fn place(&self, method: MethodId, instr: InstrId) -> Option<Place> {
        let classes = self.program.classes();
        let line = self.program.body(method)?.instrs.get(instr.index())?.line;
        let class = classes.method(method).class;
        let file = classes.class(class).source_file;
        Some(Place {
            class: Some(self.dotted(class)),
            method: Some(classes.method_name(method).to_owned()),
            file: file.map(|file| classes.names.name(file).to_owned()),
            line: (line > 0).then_some(line.into()),
        })
    }

    fn lock(&self, method: MethodId, lock: &LockRef) -> String {
        let name = match self.program.body(method) {
            Some(body) => self.path(body, &lock.path),
            None => "a lock".to_owned(),
        };
        match lock.mode {
            LockMode::Exclusive => name,
            LockMode::Shared => format!("{name} (shared)"),
        }
    }

    fn path(&self, body: &Body, path: &AccessPath) -> String {
        let classes = self.program.classes();
        let mut text = match path.root {
            Root::Value(value) => self.value(body, value),
            Root::Static(field) => {
                let class = self.simple(classes.field(field).class);
                format!("{class}.{}", classes.field_name(field))
            }
            Root::Class(class) => format!("{}.class", self.simple(class)),
        };
        for step in &path.steps {
            match step {
                Step::Field(field) => text.push_str(&format!(".{}", classes.field_name(*field))),
                Step::Call(method) => {
                    text.push_str(&format!(".{}()", classes.method_name(*method)));
                }
            }
        }
        text
    }

    fn value(&self, body: &Body, value: ValueId) -> String {
        if body.receiver() == Some(value) {
            return "this".to_owned();
        }
        match body.ty(value).class() {
            Some(class) => format!("({})", self.simple(class)),
            None => "(object)".to_owned(),
        }
    }

    fn dotted(&self, class: ClassId) -> String {
        self.program.classes().class_name(class).replace('/', ".")
    }

    fn simple(&self, class: ClassId) -> String {
        let name = self.program.classes().class_name(class);
        name.rsplit('/').next().unwrap_or(name).to_owned()
    }
}
