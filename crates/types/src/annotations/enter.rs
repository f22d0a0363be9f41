//! Puts declarations into the input of the analysis.

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_program::classes::Classes;
use untorn_program::{ClassId, FieldId, MethodId, Program};

use super::Annotations;
use super::given::{AnnotationError, Given, Origin, Place, Subject};
use super::lines;
use super::rests::Assumption;
use super::scope::{Finals, GhostNames, Scope};
use super::words::{Assumed, GuardWord, Piece, Says};
use crate::algebra::{Atomicity, Test};
use crate::basic::Basic;
use crate::front::{FieldKey, Translation};
use crate::input::{self, Effect, Guard, RegionId};
use crate::locks::{Expr, Lock, Locks, Root};
use crate::notation::{parse_atomicity, parse_lock};

/// A declared upper bound of a method.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The bound.
    pub atomicity: Atomicity,
    /// As it was written.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// A block that is asserted to be atomic.
#[derive(Debug, Clone)]
pub struct Asserted {
    /// The region of the input.
    pub region: RegionId,
    /// Its method in the input.
    pub id: input::MethodId,
    /// Its method in the program.
    pub method: MethodId,
    /// The number of a synchronized block.
    pub block: Option<u32>,
    /// Its first line.
    pub line: u32,
    /// Where the assertion stands.
    pub place: Place,
}

/// Where a guard was declared.
#[derive(Debug, Clone)]
pub struct DeclaredGuard {
    /// As it was written.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// What the declarations ask of the analysis and its report.
#[derive(Debug, Default)]
pub struct Entered {
    /// Upper bounds of bodies.
    pub bounds: FxHashMap<input::MethodId, Bound>,
    /// Declared guards.
    pub guards: FxHashMap<input::FieldId, DeclaredGuard>,
    /// Declared requirements, by method and lock.
    pub requirements: FxHashMap<(input::MethodId, Lock), Place>,
    /// Methods that are what they are assumed to be.
    pub assumed: Vec<(input::MethodId, Atomicity)>,
    /// Blocks that are asserted to be atomic.
    pub asserted: Vec<Asserted>,
    /// Whether methods ought to be atomic, where somebody says so.
    pub ought: FxHashMap<MethodId, bool>,
    /// What is believed.
    pub assumptions: Vec<Assumption>,
    /// What names may mean.
    pub(super) finals: Finals,
    /// Ghost parameters by name.
    pub(super) ghosts: GhostNames,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Methods without a body that declarations speak of: the translation has to know them.
pub fn bodiless(program: &Program, annotations: &Annotations) -> Vec<MethodId> {
    let classes = program.classes();
    let mut found: Vec<MethodId> = (annotations.given.iter())
        .filter(|given| matches!(given.says, Says::Atomicity(_) | Says::Assume(_)))
        .filter_map(|given| match given.of {
            Subject::Method(method) if !classes.method(method).has_code => Some(method),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Puts all declarations into the input.
pub fn enter(
    program: &Program,
    translation: &mut Translation,
    annotations: &Annotations,
) -> Result<Entered, AnnotationError> {
    let finals = Finals::of(translation);
    let ghosts = translation.ghost_names.clone();
    let mut keys: FxHashMap<MethodId, Vec<input::MethodId>> = FxHashMap::default();
    for (index, key) in translation.methods.iter().enumerate() {
        let ids = keys.entry(key.method).or_default();
        ids.push(input::MethodId(index as u32));
    }
    let mut entry = Entry {
        program,
        translation,
        annotations,
        keys,
        finals: &finals,
        is_own: FxHashSet::default(),
        regions: 0,
        entered: Entered {
            ghosts,
            ..Entered::default()
        },
    };
    entry.enter()?;
    let mut entered = entry.entered;
    entered.finals = finals;
    Ok(entered)
}

struct Entry<'a> {
    program: &'a Program,
    translation: &'a mut Translation,
    annotations: &'a Annotations,
    keys: FxHashMap<MethodId, Vec<input::MethodId>>,
    finals: &'a Finals,
    /// Methods with an atomicity of their own, which that of the class does not touch.
    is_own: FxHashSet<MethodId>,
    regions: u32,
    entered: Entered,
}

/// What became of a name.
type Resolved<T> = Result<Option<T>, AnnotationError>;

impl<'a> Entry<'a> {
    fn classes(&self) -> &'a Classes {
        self.program.classes()
    }

    fn enter(&mut self) -> Result<(), AnnotationError> {
        let all = self.annotations;
        for given in &all.given {
            if let (Subject::Method(method), Says::Atomicity(_)) = (&given.of, &given.says) {
                self.is_own.insert(*method);
            }
        }
        for given in &all.given {
            match (&given.of, &given.says) {
                (Subject::Field(field), Says::Guard(word, lock)) => {
                    self.guard(given, *field, *word, lock.as_ref())?;
                }
                (Subject::Field(field), Says::GuardedByItself) => self.itself(given, *field)?,
                (Subject::Field(field), Says::Assume(Assumed::Guarded)) => {
                    self.assume_guarded(given, *field);
                }
                (Subject::Method(method), Says::Holds(lock)) => self.holds(given, *method, lock)?,
                (Subject::Method(method), Says::Atomicity(text)) => {
                    self.atomicity(given, *method, text)?;
                }
                (Subject::Method(method), Says::Assume(assumed)) => {
                    self.assume(given, *method, *assumed);
                }
                (Subject::Class(class), Says::Atomicity(text)) => {
                    self.class_atomicity(given, *class, text)?;
                }
                (Subject::Section(method, number, lines), Says::Atomicity(text)) => {
                    self.must_be_atomic(given, text)?;
                    self.assert_section(given, *method, *number, *lines);
                }
                (Subject::Lines(method, from, to), Says::Atomicity(text)) => {
                    self.must_be_atomic(given, text)?;
                    self.assert_lines(given, *method, *from, *to)?;
                }
                (Subject::Lines(method, from, to), Says::Holds(lock)) => {
                    self.holds_lines(given, *method, (*from, *to), lock)?;
                }
                (Subject::Lines(method, from, to), Says::NoWarn) => {
                    self.silence(given, &[*method], *from, *to);
                }
                (Subject::FileLine { class, line }, Says::NoWarn) => {
                    let methods = self.methods_of_file(class);
                    self.silence(given, &methods, *line, *line);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&self, origin: &Origin) -> Place {
        origin.start(&self.annotations.sources)
    }

    fn error<T>(&self, given: &Given, problem: impl Into<String>) -> Result<T, AnnotationError> {
        Err((given.origin).misplaced(&self.annotations.sources, problem.into()))
    }

    /// An error, or a note if somebody else's annotation is to blame.
    fn refuse<T>(&mut self, given: &Given, error: AnnotationError) -> Resolved<T> {
        if given.origin.is_foreign() {
            self.entered.notes.push(format!("{error}; left out"));
            Ok(None)
        } else {
            Err(error)
        }
    }

    fn lock(&mut self, given: &Given, scope: &Scope<'_>, piece: &Piece) -> Resolved<Lock> {
        match parse_lock(&mut self.translation.algebra, scope, &piece.text) {
            Ok(lock) => Ok(Some(lock)),
            Err(mut error) => {
                error.offset += piece.offset;
                let error = given.origin.malformed(&self.annotations.sources, error);
                self.refuse(given, error)
            }
        }
    }

    /// A lock that excludes others.
    fn excluding(
        &mut self,
        given: &Given,
        lock: Lock,
        piece: &Piece,
        in_static: bool,
    ) -> Resolved<Lock> {
        let locks = &self.translation.algebra.locks;
        let problem = match lock {
            Locks::NONE | Locks::ALWAYS_HELD => "this lock excludes nobody",
            Locks::TLL => {
                "every thread has its own `tll`; write assume_guarded if the field is never shared"
            }
            _ if matches!(locks.expr(lock), Expr::Shared(_)) => "a read lock excludes no readers",
            _ if in_static && locks.root_of(lock) == Root::This => "there is no `this` here",
            _ => return Ok(Some(lock)),
        };
        let error = AnnotationError {
            place: given.origin.place(&self.annotations.sources, piece.offset),
            problem: problem.to_owned(),
        };
        self.refuse(given, error)
    }

    fn field_index(&self, field: FieldId, content: bool) -> Option<usize> {
        let wanted = FieldKey { field, content };
        self.translation
            .fields
            .iter()
            .position(|key| *key == wanted)
    }

    fn guard(
        &mut self,
        given: &Given,
        field: FieldId,
        word: GuardWord,
        piece: Option<&Piece>,
    ) -> Result<(), AnnotationError> {
        let info = self.classes().field(field);
        let is_static = info.flags.is_static();
        let (guard, text) = match (word, piece) {
            (GuardWord::NoGuard, _) | (_, None) => (Guard::NoGuard, "no_guard".to_owned()),
            (_, Some(piece)) => {
                let scope = Scope::of_class(self.classes(), self.finals, info.class, is_static)
                    .with_ghosts(&self.entered.ghosts, None);
                let Some(lock) = self.lock(given, &scope, piece)? else {
                    return Ok(());
                };
                let Some(lock) = self.excluding(given, lock, piece, is_static)? else {
                    return Ok(());
                };
                self.believe_exclusion(given, field, lock);
                match word {
                    GuardWord::WriteGuardedBy => (
                        Guard::WriteGuardedBy(lock),
                        format!("write_guarded_by {}", piece.text),
                    ),
                    _ => (Guard::GuardedBy(lock), format!("guarded_by {}", piece.text)),
                }
            }
        };
        let Some(mut index) = self.field_index(field, false) else {
            return Ok(());
        };
        if info.flags.is_final() {
            // The reference never changes, so what is meant is what it refers to.
            match self.field_index(field, true) {
                Some(content) => index = content,
                None => return Ok(()),
            }
        }
        self.fix_guard(given, index, guard, text)
    }

    fn itself(&mut self, given: &Given, field: FieldId) -> Result<(), AnnotationError> {
        let info = self.classes().field(field);
        if !self.finals.contains(self.classes(), field) {
            let what = self.classes().describe_field(field).replace('/', ".");
            let problem = format!("{what} is no final field, so it cannot guard itself");
            let error = given.origin.misplaced(&self.annotations.sources, problem);
            self.refuse::<()>(given, error)?;
            return Ok(());
        }
        let piece = Piece {
            text: self.classes().field_name(field).to_owned(),
            offset: 0,
        };
        let is_static = info.flags.is_static();
        let scope = Scope::of_class(self.classes(), self.finals, info.class, is_static);
        let lock = self.lock(given, &scope, &piece)?;
        match (lock, self.field_index(field, true)) {
            (Some(lock), Some(index)) => {
                self.fix_guard(given, index, Guard::GuardedBy(lock), "itself".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn fix_guard(
        &mut self,
        given: &Given,
        index: usize,
        guard: Guard,
        text: String,
    ) -> Result<(), AnnotationError> {
        let id = input::FieldId(index as u32);
        if !self.translation.checkable[index] {
            let field = self.translation.fields[index].field;
            let name = self.classes().describe_field(field).replace('/', ".");
            self.entered.notes.push(format!(
                "{}: not every access of {name} is known, so its guard is not relied on",
                self.place(&given.origin)
            ));
            return Ok(());
        }
        let field = &mut self.translation.input.fields[index];
        if let Some(earlier) = self.entered.guards.get(&id)
            && field.fixed != Some(guard)
        {
            let problem = format!("this contradicts {} at {}", earlier.text, earlier.place);
            return self.error(given, problem);
        }
        field.fixed = Some(guard);
        field.candidates.clear();
        let place = self.place(&given.origin);
        self.entered
            .guards
            .insert(id, DeclaredGuard { text, place });
        Ok(())
    }

    /// A lock object that nobody knows to exclude others is believed to.
    fn believe_exclusion(&mut self, given: &Given, field: FieldId, lock: Lock) {
        let locks = &self.translation.algebra.locks;
        let Expr::Field(_, last) = locks.expr(lock) else {
            return;
        };
        if !self.translation.unsure.contains(&last) {
            return;
        }
        let what = format!("{} excludes others", locks.describe(lock, &[]));
        let place = self.place(&given.origin);
        let fields = self.field_ids(field);
        self.believe(what, place, Vec::new(), fields);
    }

    fn field_ids(&self, field: FieldId) -> Vec<input::FieldId> {
        [false, true]
            .iter()
            .filter_map(|&content| self.field_index(field, content))
            .map(|index| input::FieldId(index as u32))
            .collect()
    }

    fn believe(
        &mut self,
        what: String,
        place: Place,
        methods: Vec<input::MethodId>,
        fields: Vec<input::FieldId>,
    ) {
        self.entered.assumptions.push(Assumption {
            what,
            place,
            methods,
            fields,
        });
    }

    fn assume_guarded(&mut self, given: &Given, field: FieldId) {
        let fields = self.field_ids(field);
        for method in &mut self.translation.input.methods {
            for node in method.body.iter_mut().flat_map(|body| &mut body.nodes) {
                if let Effect::Access { field, .. } = &node.effect
                    && fields.contains(field)
                {
                    node.effect = Effect::Does(Atomicity::MOVER);
                }
            }
        }
        let name = self.classes().describe_field(field).replace('/', ".");
        let place = self.place(&given.origin);
        // The accesses are gone from the input, so their methods are named.
        let methods = self.accessors(field);
        self.believe(
            format!("{name} is always protected"),
            place,
            methods,
            fields,
        );
    }

    /// Methods of the input that access a field of the program.
    fn accessors(&self, field: FieldId) -> Vec<input::MethodId> {
        use crate::front::What;
        let sites = &self.translation.sites;
        let touches = |method: &input::Method| {
            (method.body.iter().flat_map(|body| &body.nodes)).any(|node| {
                let what = sites.get(node.site).map(|info| info.what);
                matches!(what, Some(What::Access { field: of, .. } | What::Elements { field: of, .. }) if of == field)
            })
        };
        (self.translation.input.methods.iter().enumerate())
            .filter(|(_, method)| touches(method))
            .map(|(index, _)| input::MethodId(index as u32))
            .collect()
    }

    fn ids(&self, method: MethodId) -> Vec<input::MethodId> {
        self.keys.get(&method).cloned().unwrap_or_default()
    }

    /// The version of a method that anyone may call.
    fn general(&self, method: MethodId) -> Option<input::MethodId> {
        let fresh = self.classes().begins_with_new_receiver(method);
        (self.ids(method).into_iter())
            .find(|id| self.translation.methods[id.index()].fresh == fresh)
    }

    fn method_scope(&self, method: MethodId) -> Scope<'a> {
        let names = self.annotations.parameter_names(method);
        Scope::of_method(self.classes(), self.finals, method, names)
            .with_ghosts(&self.entered.ghosts, Some(method))
    }

    fn holds(
        &mut self,
        given: &Given,
        method: MethodId,
        piece: &Piece,
    ) -> Result<(), AnnotationError> {
        let scope = self.method_scope(method);
        let Some(lock) = self.lock(given, &scope, piece)? else {
            return Ok(());
        };
        let is_static = self.classes().method(method).flags.is_static();
        if self.excluding(given, lock, piece, is_static)?.is_none() {
            return Ok(());
        }
        let place = self.place(&given.origin);
        self.require(method, lock, &piece.text, place);
        Ok(())
    }

    fn require(&mut self, method: MethodId, lock: Lock, text: &str, place: Place) {
        let Some(id) = self.general(method) else {
            return;
        };
        let input = &mut self.translation.input.methods[id.index()];
        if input.holds.contains(&lock) {
            return;
        }
        input.holds.push(lock);
        let open = input.open;
        self.entered.requirements.insert((id, lock), place.clone());
        if open {
            let name = self.classes().describe_method(method).replace('/', ".");
            let what = format!("code that was not analyzed holds {text} when it calls {name}");
            let fields = self.accessed(&[id]);
            self.believe(what, place, vec![id], fields);
        }
    }

    /// Fields that methods access themselves.
    fn accessed(&self, ids: &[input::MethodId]) -> Vec<input::FieldId> {
        let mut fields = Vec::new();
        for id in ids {
            let body = &self.translation.input.methods[id.index()].body;
            for node in body.iter().flat_map(|body| &body.nodes) {
                if let Effect::Access { field, .. } = node.effect
                    && !fields.contains(&field)
                {
                    fields.push(field);
                }
            }
        }
        fields
    }

    fn parse(&mut self, given: &Given, method: MethodId, piece: &Piece) -> Resolved<Atomicity> {
        let scope = self.method_scope(method);
        match parse_atomicity(&mut self.translation.algebra, &scope, &piece.text) {
            Ok(atomicity) => Ok(Some(atomicity)),
            Err(mut error) => {
                error.offset += piece.offset;
                let error = given.origin.malformed(&self.annotations.sources, error);
                self.refuse(given, error)
            }
        }
    }

    fn atomicity(
        &mut self,
        given: &Given,
        method: MethodId,
        piece: &Piece,
    ) -> Result<(), AnnotationError> {
        let Some(atomicity) = self.parse(given, method, piece)? else {
            return Ok(());
        };
        let place = self.place(&given.origin);
        if let Some(known) = self
            .general(method)
            .and_then(|id| self.entered.bounds.get(&id))
            && known.atomicity != atomicity
        {
            let problem = format!("this contradicts `{}` at {}", known.text, known.place);
            return self.error(given, problem);
        }
        self.bound(method, atomicity, &piece.text, place.clone());
        for lock in self.required_by(atomicity) {
            let name = self.translation.algebra.locks.describe(lock, &[]);
            self.require(method, lock, &name, place.clone());
        }
        Ok(())
    }

    /// Locks without which an atomicity is an error: its callers must hold them.
    fn required_by(&mut self, atomicity: Atomicity) -> Vec<Lock> {
        let algebra = &mut self.translation.algebra;
        let mut required = Vec::new();
        for lock in algebra.support(atomicity) {
            let without = algebra.assume(atomicity, Test::held(lock), false);
            if algebra.outcomes(without) == [Basic::Error] && lock != Locks::TLL {
                required.push(lock);
            }
        }
        required
    }

    fn bound(&mut self, method: MethodId, atomicity: Atomicity, text: &str, place: Place) {
        let compound = (self.translation.algebra)
            .outcomes(atomicity)
            .contains(&Basic::Cmpd);
        let excluded = self.annotations.excluded.contains(&method);
        self.entered.ought.insert(method, !compound && !excluded);
        let Some(id) = self.general(method) else {
            return;
        };
        let input = &mut self.translation.input.methods[id.index()];
        if input.body.is_none() {
            input.declared = Some(atomicity);
            let name = self.classes().describe_method(method).replace('/', ".");
            let what = format!("every implementation of {name} that was not analyzed is `{text}`");
            self.believe(what, place.clone(), vec![id], Vec::new());
        }
        let text = text.to_owned();
        self.entered.bounds.insert(
            id,
            Bound {
                atomicity,
                text,
                place,
            },
        );
    }

    fn class_atomicity(
        &mut self,
        given: &Given,
        class: ClassId,
        piece: &Piece,
    ) -> Result<(), AnnotationError> {
        let Some(basic) = Basic::from_name(&piece.text) else {
            return self.error(given, "of a class only a plain atomicity can be said");
        };
        let classes = self.classes();
        let public_only =
            matches!(&given.origin, Origin::Annotation { at, .. } if at.ends_with("@ThreadSafe"));
        let commented = matches!(given.origin, Origin::Comment(..));
        let place = self.place(&given.origin);
        for &method in &classes.class(class).methods {
            let flags = classes.method(method).flags;
            let meant = !flags.is_synthetic()
                && !classes.method_name(method).starts_with('<')
                && (flags.is_public() || !public_only)
                && (commented || !flags.is_private());
            if meant && !self.is_own.contains(&method) {
                self.bound(method, basic.into(), &piece.text, place.clone());
            }
        }
        Ok(())
    }

    fn assume(&mut self, given: &Given, method: MethodId, assumed: Assumed) {
        let (atomicity, word) = match assumed {
            Assumed::Mover => (Atomicity::MOVER, "no step of its own"),
            _ => (Atomicity::ATOMIC, "one step"),
        };
        let ids = self.ids(method);
        for &id in &ids {
            let input = &mut self.translation.input.methods[id.index()];
            if input.body.is_none() {
                input.declared = Some(atomicity);
            }
            self.entered.assumed.push((id, atomicity));
        }
        self.entered.ought.insert(method, false);
        let name = self.classes().describe_method(method).replace('/', ".");
        let place = self.place(&given.origin);
        self.believe(format!("{name} is {word}"), place, ids, Vec::new());
    }

    fn must_be_atomic(&self, given: &Given, piece: &Piece) -> Result<(), AnnotationError> {
        if piece.text == "atomic" {
            return Ok(());
        }
        self.error(given, "of a block only `atomic` can be said")
    }

    fn assert_section(
        &mut self,
        given: &Given,
        method: MethodId,
        number: u32,
        (from, to): (u32, u32),
    ) {
        let place = self.place(&given.origin);
        let class = self.classes().method(method).class;
        for (index, (key, block)) in self.translation.blocks.iter().enumerate() {
            let line = u32::from(block.line);
            let here = (from..=to).contains(&line) || line == 0;
            // The block of a lambda belongs to a method of its own.
            let same = (block.method == method && block.number == number && here)
                || (block.method != method
                    && self.classes().method(block.method).class == class
                    && self.classes().method(block.method).flags.is_synthetic()
                    && line == from);
            let id = (self.keys.get(&key.method).into_iter().flatten())
                .find(|id| self.translation.methods[id.index()] == *key);
            if let (true, Some(&id)) = (same, id) {
                self.entered.asserted.push(Asserted {
                    region: RegionId(index as u32),
                    id,
                    method: block.method,
                    block: Some(block.number),
                    line,
                    place: place.clone(),
                });
            }
        }
    }

    fn assert_lines(
        &mut self,
        given: &Given,
        method: MethodId,
        from: u32,
        to: u32,
    ) -> Result<(), AnnotationError> {
        let place = self.place(&given.origin);
        for id in self.ids(method) {
            let region = RegionId(self.translation.blocks.len() as u32 + self.regions);
            let Some(body) = &mut self.translation.input.methods[id.index()].body else {
                continue;
            };
            let inside = lines::within(body, &self.translation.sites, from, to);
            if !inside.contains(&true) {
                continue;
            }
            self.regions += 1;
            let before = body.nodes.len();
            let begin = Effect::Begin {
                region,
                asserted: false,
            };
            lines::wrap(body, &inside, &begin, &Effect::End);
            if !lines::is_nested(body, region, before) {
                return self.error(
                    given,
                    "this block and a synchronized one share a line; give each lines of its own",
                );
            }
            self.entered.asserted.push(Asserted {
                region,
                id,
                method,
                block: None,
                line: from,
                place: place.clone(),
            });
        }
        Ok(())
    }

    fn holds_lines(
        &mut self,
        given: &Given,
        method: MethodId,
        (from, to): (u32, u32),
        piece: &Piece,
    ) -> Result<(), AnnotationError> {
        let scope = self.method_scope(method);
        let Some(lock) = self.lock(given, &scope, piece)? else {
            return Ok(());
        };
        let is_static = self.classes().method(method).flags.is_static();
        if self.excluding(given, lock, piece, is_static)?.is_none() {
            return Ok(());
        }
        let ids = self.ids(method);
        let mut fields = Vec::new();
        for &id in &ids {
            let Some(body) = &mut self.translation.input.methods[id.index()].body else {
                continue;
            };
            let inside = lines::within(body, &self.translation.sites, from, to);
            for (node, _) in body
                .nodes
                .iter()
                .zip(&inside)
                .filter(|(_, inside)| **inside)
            {
                if let Effect::Access { field, .. } = node.effect {
                    fields.push(field);
                }
            }
            let [enter, leave] = [true, false].map(|held| Effect::Assume { lock, held });
            lines::wrap(body, &inside, &enter, &leave);
        }
        fields.sort_unstable();
        fields.dedup();
        let name = self.classes().describe_method(method).replace('/', ".");
        let what = format!("{} is held in {name}, lines {from} to {to}", piece.text);
        let place = self.place(&given.origin);
        self.believe(what, place, ids, fields);
        Ok(())
    }

    /// Methods of all classes of the file that the class comes from.
    fn methods_of_file(&self, class: &str) -> Vec<MethodId> {
        let classes = self.classes();
        let Some(top) = classes.find(class) else {
            return Vec::new();
        };
        let of_file = |other: ClassId| {
            classes.class(other).source_file == classes.class(top).source_file
                && classes.package(other) == classes.package(top)
        };
        (self.program.inputs().iter())
            .filter(|&&other| of_file(other))
            .flat_map(|&other| classes.class(other).methods.iter().copied())
            .collect()
    }

    /// What happens on these lines is not looked at.
    fn silence(&mut self, given: &Given, methods: &[MethodId], from: u32, to: u32) {
        let (mut ids, mut fields) = (Vec::new(), Vec::new());
        for &method in methods {
            for id in self.ids(method) {
                let Some(body) = &mut self.translation.input.methods[id.index()].body else {
                    continue;
                };
                let inside = lines::within(body, &self.translation.sites, from, to);
                let mut any = false;
                for (node, _) in body.nodes.iter_mut().zip(&inside).filter(|(_, i)| **i) {
                    match &node.effect {
                        Effect::Access { field, .. } => fields.push(*field),
                        Effect::Does(_) | Effect::Call(_) => {}
                        _ => continue,
                    }
                    node.effect = Effect::Skip;
                    any = true;
                }
                if any {
                    ids.push(id);
                }
            }
        }
        if ids.is_empty() {
            return;
        }
        fields.sort_unstable();
        fields.dedup();
        let place = self.place(&given.origin);
        let lines = if from == to {
            format!("line {from}")
        } else {
            format!("lines {from} to {to}")
        };
        let what = format!("what {lines} does harms nobody");
        self.believe(what, place, ids, fields);
    }
}
