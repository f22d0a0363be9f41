//! Facts that were proved of class files, and whether they hold of the classes that this JVM loads.
//!
//! Every class outside the platform is looked at when it is loaded, watched or not, before a fact about it is used:
//!
//! | what is loaded | what breaks |
//! |---|---|
//! | the class file that was analyzed | nothing |
//! | another one of a known name | its fields, those of classes below it, what it writes, all that is of one thread |
//! | a class that nobody analyzed | the fields that it writes or, if they are of one thread, accesses |
//! | one that was not even there | besides, all that is of one thread |
//!
//! What broke is not used any more.
//! Sites that were left out before it broke cannot be brought back, since they have run already; they are counted, and the report says that findings may be missing.
//! So a fact that does not hold is never silent, and one that broke before it was used costs nothing.
//!
//! What is of one thread rests on a closed world, so it is used only where the JVM runs the main class that was analyzed.
//! Hidden classes count as their hosts if the platform makes them for lambdas, as platform if they are its own, and else as classes that were not there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use untorn_channel::facts::{Facts, Field, Hash, Monitor, hash_of, key};
use untorn_classfile::read::{Entry, MemberRef, PoolIndex};
use untorn_classfile::{ClassFile, Insn, Op};
use untorn_spec::MethodFacts;

use crate::registry::FieldRef;

/// Counts of this module, for the report.
const DIFFERING: &str = "facts: classes that differ";
const FOREIGN: &str = "facts: classes that were not analyzed";
const BROKEN: &str = "facts: sites left out before a class broke what they rest on";

/// Facts, and what became of them.
#[derive(Debug)]
pub struct Known {
    facts: Facts,
    /// The classes that declare a fact's field, by its name and descriptor.
    declaring: FxHashMap<String, Vec<String>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The JVM runs the main class that was analyzed, and has loaded nothing that was not there.
    is_closed: bool,
    /// Fields by their classes: facts about them hold no more.
    broken: FxHashSet<(String, String)>,
    /// Sites that were left out, by what they rest on.
    fields: FxHashMap<(String, String), u64>,
    locks: u64,
}

impl State {
    /// Breaks the fact about a field; how many sites rest on it.
    fn break_field(&mut self, class: &str, key: &str) -> u64 {
        let field = (class.to_owned(), key.to_owned());
        let lost = self.fields.remove(&field).unwrap_or(0);
        self.broken.insert(field);
        lost
    }
}

/// An instruction that names a field: whether it writes.
struct Named {
    class: String,
    key: String,
    writes: bool,
}

impl Known {
    pub fn new(facts: Facts) -> Self {
        let mut declaring: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for (class, known) in &facts.classes {
            for (key, _) in known
                .fields
                .iter()
                .filter(|(_, field)| **field != Field::Shared)
            {
                declaring
                    .entry(key.clone())
                    .or_default()
                    .push(class.clone());
            }
        }
        Self {
            facts,
            declaring,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is one of a set or a count.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what the JVM runs, as its command line names it behind its own options.
    pub fn runs(&self, program: &str) {
        let mut words = program.split(' ');
        let main = match words.next() {
            Some("-m" | "--module") => words.next().and_then(|word| word.split('/').nth(1)),
            word => word,
        };
        self.state().is_closed = self.facts.main.is_some() && main == self.facts.main.as_deref();
    }

    /// Looks at a class outside the platform that is being loaded; what is to be counted of it.
    pub fn seen(&self, bytes: &[u8], is_hidden: bool) -> Vec<(&'static str, u64)> {
        let Ok(class) = ClassFile::parse(bytes) else {
            // The JVM refuses it as well.
            return Vec::new();
        };
        let name = class.name.replace('/', ".");
        if is_hidden && self.is_of_platform(&class, &name) {
            return Vec::new();
        }
        let known = self.facts.classes.get(&name);
        let is_same = known.is_some_and(|known| known.hash == hash_of(bytes));
        if is_same && known.is_some_and(|known| known.analyzed) {
            return Vec::new();
        }
        let mut counts = Vec::new();
        let mut state = self.state();
        let mut lost = self.break_named(&mut state, &class);
        if known.is_some() && !is_same {
            counts.push((DIFFERING, 1));
            lost += self.break_below(&mut state, &name);
        }
        if known.is_none() {
            counts.push((FOREIGN, 1));
        }
        if !is_same {
            lost += self.open(&mut state);
        }
        if lost > 0 {
            counts.push((BROKEN, lost));
        }
        counts
    }

    /// Whether a hidden class is one that the platform makes for itself or for a lambda of a class that was analyzed.
    fn is_of_platform(&self, class: &ClassFile<'_>, name: &str) -> bool {
        if untorn_channel::config::is_platform(name) {
            return true;
        }
        let host = name.split("$$Lambda").next().filter(|host| *host != name);
        let is_host_known = host.is_some_and(|host| self.facts.classes.contains_key(host));
        is_host_known && named_fields(class).iter().all(|named| named.class == name)
    }

    /// Breaks what a class writes, or accesses though it was said to be of one thread.
    fn break_named(&self, state: &mut State, class: &ClassFile<'_>) -> u64 {
        let mut lost = 0;
        for named in named_fields(class) {
            let declared = self.facts.field(&named.class, &named.key);
            let declaring: Vec<&str> = match declared {
                Some((class, _)) => vec![class],
                // A class that nobody knows may inherit the field from any that has it.
                None => {
                    let all = self.declaring.get(&named.key).into_iter().flatten();
                    all.map(String::as_str).collect()
                }
            };
            for class in declaring {
                let field = self
                    .facts
                    .classes
                    .get(class)
                    .and_then(|it| it.fields.get(&named.key));
                if named.writes || field == Some(&Field::Confined) {
                    lost += state.break_field(class, &named.key);
                }
            }
        }
        lost
    }

    /// Breaks the fields of a class and of those below it: what a constructor of a superclass does matters to them.
    fn break_below(&self, state: &mut State, changed: &str) -> u64 {
        let mut lost = 0;
        for (name, known) in &self.facts.classes {
            if self.is_below(name, changed) {
                for key in known.fields.keys() {
                    lost += state.break_field(name, key);
                }
            }
        }
        lost
    }

    fn is_below(&self, class: &str, above: &str) -> bool {
        let mut at = class;
        for _ in 0..=self.facts.classes.len() {
            if at == above {
                return true;
            }
            match self
                .facts
                .classes
                .get(at)
                .and_then(|known| known.above.as_deref())
            {
                Some(next) => at = next,
                None => return false,
            }
        }
        true
    }

    /// The world is not closed: nothing is of one thread any more.
    fn open(&self, state: &mut State) -> u64 {
        if !std::mem::replace(&mut state.is_closed, false) {
            return 0;
        }
        let mut lost = std::mem::take(&mut state.locks);
        state.fields.retain(|(class, key), sites| {
            let field = self
                .facts
                .classes
                .get(class)
                .and_then(|it| it.fields.get(key));
            let confined = field == Some(&Field::Confined);
            lost += if confined { *sites } else { 0 };
            !confined
        });
        lost
    }

    /// Why an access in a class of this hash need not be watched.
    pub(super) fn leaves_out(&self, class: &str, hash: Hash, field: &FieldRef) -> Option<Field> {
        let own = self.facts.classes.get(class)?;
        if own.hash != hash || !own.analyzed {
            return None;
        }
        let key = key(&field.name, &field.descriptor);
        let (declaring, known) = self.facts.field(&field.class, &key)?;
        let mut state = self.state();
        let usable = match known {
            Field::ReadOnly => true,
            Field::Confined => state.is_closed,
            Field::Shared => false,
        };
        let named = (declaring.to_owned(), key);
        if !usable || state.broken.contains(&named) {
            return None;
        }
        *state.fields.entry(named).or_default() += 1;
        Some(known)
    }

    /// Whether the lock of a synchronized method, or of its block with this number, is of one thread.
    pub(super) fn is_lone_lock(
        &self,
        class: &str,
        hash: Hash,
        method: &MethodFacts,
        block: Option<u32>,
    ) -> bool {
        let Some(own) = self.facts.classes.get(class) else {
            return false;
        };
        let monitor = Monitor {
            method: method.name.clone(),
            descriptor: method.descriptor.clone(),
            block,
        };
        if own.hash != hash || !own.analyzed || !own.locks.contains(&monitor) {
            return false;
        }
        let mut state = self.state();
        state.locks += u64::from(state.is_closed);
        state.is_closed
    }
}

/// The fields that a class names in its code; of code that cannot be read, all that its constants name.
fn named_fields(class: &ClassFile<'_>) -> Vec<Named> {
    let mut found = Vec::new();
    let mut add = |named: MemberRef<'_>, writes| {
        found.push(Named {
            class: named.class.replace('/', "."),
            key: key(&named.name, &named.descriptor),
            writes,
        });
    };
    let mut is_readable = true;
    for method in &class.methods {
        let code = match method.code(&class.pool) {
            Ok(Some(code)) => code,
            Ok(None) => continue,
            Err(_) => {
                is_readable = false;
                continue;
            }
        };
        for next in code.instructions() {
            match next {
                Ok((_, Insn::Field { op, field })) => match class.pool.field_ref(field) {
                    Ok(named) => add(named, matches!(op, Op::Putfield | Op::Putstatic)),
                    Err(_) => is_readable = false,
                },
                Ok(_) => {}
                Err(_) => is_readable = false,
            }
        }
    }
    if !is_readable {
        let fields = class.pool.entries();
        let fields = fields.filter(|(_, entry)| matches!(entry, Entry::Field { .. }));
        let indexes: Vec<PoolIndex> = fields.map(|(index, _)| index).collect();
        for index in indexes {
            if let Ok(named) = class.pool.field_ref(index) {
                add(named, true);
            }
        }
    }
    found
}
