//! Rewrites classes so that they tell the runtime what they do.
//!
//! [`rewrite`] is a function of a class file's bytes, a [`Plan`] and the ids handed out so far; it knows no JVM.
//! What it inserts are calls of `java.lang.UntornRuntime`:
//!
//! | where | what |
//! |---|---|
//! | field, static field, array element | lock and unlock of its shadow word around the access |
//! | `synchronized` block or method, `wait`, `notify` | what became of the monitor |
//! | loop, when tracking is optimistic | a poll |
//! | region | begin and end, on every way out |
//! | where a thread waits for others | that it does |
//! | access, call, `monitorenter`, in a class of a [plan](steer) | that the thread may be held up |
//! | call of a library that the [model](model) knows | what the call does to locks, signals and contents |
//!
//! What the program computes does not change: the original instructions stay, in their order, with the same operands, and an exception takes the way it took.
//! Code of a constructor before the call of its superclass's is left alone, since the verifier allows no handlers for it.
//!
//! A method that would pass the limits of the class file format is instrumented less ([`Extent`]); one that cannot be edited at all stays as it is.
//! Both are counted. The shadow field is added in any case, since other classes rely on it.

mod access;
mod calls;
mod checked;
mod contents;
mod guard;
mod handles;
mod known;
pub mod locks;
pub mod model;
mod monitor;
mod owned;
mod plan;
mod platform;
mod steer;
mod survey;
mod waiting;
mod weave;

pub use known::Known;
pub use plan::{Plan, PlanError};
pub use platform::Platform;
pub use steer::Steered;
pub use survey::Survey;

use std::collections::BTreeMap;

use untorn_channel::config::ChosenRegion;
use untorn_channel::facts::{Field, Hash, hash_of};
use untorn_classfile::read::Access;
use untorn_classfile::{ClassEditor, ClassFile, EditError, facts_of};
use untorn_spec::{ClassFacts, MethodFacts, Stage};

use crate::Registry;
use crate::loaders::Loader;
use crate::registry::{FieldRef, FieldShape, Shape};
use waiting::WaitingMethods;
use weave::Weaver;

/// The field that holds an object's shadow word.
pub const SHADOW: &str = "$untorn";
/// The field in which objects keep what is known of them as locks.
pub const ENTRY: &str = "$untornEntry";

/// What became of a class.
#[derive(Debug)]
pub enum Outcome {
    Rewritten(Vec<u8>, Counts),
    /// It stays as it is, and why.
    Untouched(Reason),
}

/// Why a class stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Its name is not one that is watched.
    #[error("not watched")]
    NotWatched,
    /// Nothing in it is of interest.
    #[error("nothing to record")]
    Nothing,
    #[error("malformed: {0}")]
    Malformed(String),
    #[error("could not be edited: {0}")]
    Edit(EditError),
}

/// What was done to a class, by name, for `--stats`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(pub BTreeMap<&'static str, u64>);

impl Counts {
    fn add(&mut self, name: &'static str) {
        *self.0.entry(name).or_default() += 1;
    }

    fn merge(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            *self.0.entry(name).or_default() += amount;
        }
    }
}

/// How much of a method is instrumented; later ones take less room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Everything,
    /// Every access calls the runtime, also those to objects of one thread.
    Calls,
    /// Neither array elements nor library calls.
    Fields,
    /// Monitors and regions only.
    Order,
}

/// What the methods of one class share.
#[derive(Debug)]
struct Subject<'s, 'a> {
    plan: &'s Plan,
    ids: &'s Registry,
    loader: Loader,
    class: &'s ClassFile<'a>,
    facts: &'s ClassFacts,
    /// The class's id, and the hash of its file.
    id: u32,
    hash: u64,
    /// Its methods that wait for other threads.
    waiting: WaitingMethods,
    /// The class has a shadow word of its own, not that of its superclass.
    shadowed: bool,
}

/// Rewrites a class that this loader defines; new ids are declared in `ids`, to be flushed before the class is defined.
pub fn rewrite(bytes: &[u8], plan: &Plan, ids: &Registry, loader: Loader) -> Outcome {
    let class = match ClassFile::parse(bytes) {
        Ok(class) => class,
        Err(error) => return Outcome::Untouched(Reason::Malformed(error.to_string())),
    };
    let facts = match facts_of(&class) {
        Ok(facts) => facts,
        Err(error) => return Outcome::Untouched(Reason::Malformed(error.to_string())),
    };
    if !plan.watches(&facts.name) || class.access.has(Access::MODULE) {
        return Outcome::Untouched(Reason::NotWatched);
    }
    ids.shape(loader, &facts.name, shape_of(&facts));
    let source = class.attributes.source_file(&class.pool).ok().flatten();
    let hash = hash_of(bytes).0;
    let subject = Subject {
        plan,
        ids,
        loader,
        class: &class,
        facts: &facts,
        id: ids.class(loader, &facts.name, source.as_deref(), Some(hash)),
        hash,
        waiting: WaitingMethods::of(&class, &facts),
        shadowed: !facts.is_interface
            && !(facts.super_name.as_deref()).is_some_and(|name| plan.watches(name)),
    };
    if let Some(steered) = &plan.steered {
        steered.learn(&class, &plan.models);
    }
    if plan.code {
        ids.code(subject.id, bytes);
    }
    match edit(&subject) {
        Ok(Some((bytes, counts))) => Outcome::Rewritten(bytes, counts),
        Ok(None) => Outcome::Untouched(Reason::Nothing),
        Err(error) => Outcome::Untouched(Reason::Edit(error)),
    }
}

/// `UntornMode.CHOSEN`, `UntornMode.WHOLE` and `UntornMode.GUESS`.
const CHOSEN: i32 = 1 << 30;
const WHOLE: i32 = 1 << 29;
const GUESS: i32 = 1 << 28;

impl Subject<'_, '_> {
    /// Why an access to a field need not be watched, if it was proved.
    fn leaves_out(&self, field: &FieldRef) -> Option<Field> {
        let known = self.plan.known.as_ref()?;
        known.leaves_out(&self.facts.name, Hash(self.hash), field)
    }

    /// Whether it was proved that one thread alone knows the lock of a method, or of its block with this number.
    fn is_lone_lock(&self, method: &MethodFacts, block: Option<u32>) -> bool {
        let known = self.plan.known.as_ref();
        known.is_some_and(|known| {
            known.is_lone_lock(&self.facts.name, Hash(self.hash), method, block)
        })
    }

    /// Whether a method, or the block of it with this number, is a region.
    fn is_region(&self, facts: &MethodFacts, block: Option<u32>) -> bool {
        let decision = self.plan.spec.decide(Stage::Run, self.facts, facts, block);
        let demoted = || {
            let region = chosen_region(facts, block);
            decision.rule.is_guess() && self.plan.is_demoted(&self.facts.name, &region)
        };
        // What waits for others, starts them or is started is not meant to be one step, whoever suspects it.
        let planned = || {
            !facts.interrupts
                && !facts.starts_threads
                && !self.facts.is_started(facts)
                && self.is_planned(&chosen_region(facts, block))
        };
        decision.atomic && !demoted() || planned()
    }

    /// A new region, as the number that inserted code passes on.
    fn region(&self, facts: &MethodFacts, method: u32, block: Option<u32>, line: u32) -> i32 {
        let mut id = self.ids.region(method, block, line) as i32;
        let decision = self.plan.spec.decide(Stage::Run, self.facts, facts, block);
        if decision.rule.spans_waits() {
            id |= WHOLE;
        }
        if decision.rule.is_guess() {
            id |= GUESS;
        }
        let region = chosen_region(facts, block);
        id |= self.planned(&region);
        if self.plan.chooses(&self.facts.name, self.hash, &region) {
            id | CHOSEN
        } else {
            id
        }
    }
}

fn chosen_region(facts: &MethodFacts, block: Option<u32>) -> ChosenRegion {
    ChosenRegion {
        method: facts.name.clone(),
        descriptor: facts.descriptor.clone(),
        block,
    }
}

fn shape_of(facts: &ClassFacts) -> Shape {
    let fields = facts.fields.iter().map(|field| FieldShape {
        name: field.name.clone(),
        descriptor: field.descriptor.clone(),
        is_static: field.is_static,
        is_final: field.is_final,
        is_volatile: field.is_volatile,
    });
    Shape {
        super_class: facts.super_name.clone(),
        fields: fields.collect(),
        apart: false,
    }
}

fn edit(subject: &Subject<'_, '_>) -> Result<Option<(Vec<u8>, Counts)>, EditError> {
    let Subject { class, facts, .. } = *subject;
    let mut editor = ClassEditor::new(class.clone());
    let mut counts = Counts::default();
    if subject.shadowed {
        let hidden = Access::PUBLIC
            .with(Access::TRANSIENT)
            .with(Access::SYNTHETIC);
        editor.add_field(hidden, SHADOW, "J")?;
        editor.add_field(hidden, ENTRY, "Ljava/lang/Object;")?;
        counts.add("shadow fields");
    }
    let mut changed = subject.shadowed;
    for (index, method) in facts.methods.iter().enumerate() {
        changed |= edit_method(&mut editor, index, method, subject, &mut counts);
    }
    if !changed {
        return Ok(None);
    }
    counts.add("classes rewritten");
    Ok(Some((editor.finish()?, counts)))
}

/// Instruments a method as far as it can be; says whether it changed.
fn edit_method<'a>(
    editor: &mut ClassEditor<'a>,
    index: usize,
    facts: &MethodFacts,
    subject: &Subject<'_, 'a>,
    counts: &mut Counts,
) -> bool {
    let mut id = None;
    for extent in [
        Extent::Everything,
        Extent::Calls,
        Extent::Fields,
        Extent::Order,
    ] {
        match try_method(editor, index, facts, subject, extent, &mut id) {
            Ok(None) => return false,
            Ok(Some(done)) => {
                counts.merge(&done);
                counts.add(match extent {
                    Extent::Everything | Extent::Calls => "methods rewritten",
                    Extent::Fields => "methods too large for arrays and library calls",
                    Extent::Order => "methods too large for fields",
                });
                return true;
            }
            Err(EditError::MethodTooLarge { .. } | EditError::TooMany(_) | EditError::PoolFull) => {
            }
            Err(EditError::Read(_)) => {
                counts.add("methods untouched: malformed");
                return false;
            }
            Err(_) => {
                counts.add("methods untouched: types not understood");
                return false;
            }
        }
    }
    counts.add("methods untouched: too large");
    false
}

fn try_method<'a>(
    editor: &mut ClassEditor<'a>,
    index: usize,
    facts: &MethodFacts,
    subject: &Subject<'_, 'a>,
    extent: Extent,
    id: &mut Option<u32>,
) -> Result<Option<Counts>, EditError> {
    let Some(body) = editor.method(index)? else {
        return Ok(None);
    };
    let woven = Weaver::new(body, &mut editor.pool, subject, facts, extent, id)?.weave()?;
    let Some((body, counts)) = woven else {
        return Ok(None);
    };
    editor.put(body)?;
    Ok(Some(counts))
}
