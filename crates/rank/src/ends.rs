//! The two accesses of a region between which others come.

use untorn_findings::{EdgeKind, Evidence, Finding, Place, Region, Step};

use untorn_program::InstrId;
use untorn_program::ir::Op;

use crate::code::RegionBody;
use crate::flow::Flow;
use crate::{apart, sections};

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    Write,
    /// Reads and writes as one step.
    Update,
    /// Gives up a lock.
    GiveUp,
    /// Takes a lock.
    Take,
    /// A call, or something else.
    Other,
}

/// How types begin the name of what an array or a collection in a field holds.
const CONTENT: &str = "what ";

/// One end of a tear.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    pub access: Access,
    /// The location, as the analysis names it.
    pub target: String,
    /// The location is what the collection in this field holds.
    pub is_of_collection: bool,
    pub place: Option<Place>,
}

impl End {
    pub fn line(&self) -> Option<u32> {
        self.place.as_ref()?.line
    }

    /// The location without the package of its class.
    pub fn short_target(&self) -> &str {
        let end = self
            .target
            .find(['@', '[', '"'])
            .unwrap_or(self.target.len());
        let class_end = self.target[..end].rfind('.').map_or(0, |dot| dot);
        let start = if self.target.contains('@') {
            self.target[..end].rfind('.').map_or(0, |dot| dot + 1)
        } else {
            self.target[..class_end].rfind('.').map_or(0, |dot| dot + 1)
        };
        &self.target[start..]
    }

    /// The field's own name, or nothing for what a collection or an atomic holds: no instruction of the program names that.
    pub fn field(&self) -> Option<&str> {
        let is_content = self.is_content() || self.is_of_collection;
        (!is_content && !self.target.ends_with(']') && !self.target.starts_with("java."))
            .then(|| self.anchor())
            .flatten()
    }

    /// The name of the field that it is in, or in which the collection is that holds it.
    pub fn anchor(&self) -> Option<&str> {
        let known = !self.target.ends_with(']') && !self.target.starts_with("java.");
        (known && !self.is_content())
            .then(|| self.target.rsplit('.').next())
            .flatten()
    }

    /// Whether it is of the elements of an array, or of what a collection holds, by the field that refers to it.
    pub fn is_content(&self) -> bool {
        self.target.starts_with(CONTENT)
    }

    /// The object or collection that it belongs to.
    pub fn object(&self) -> &str {
        match (self.target.ends_with(']'), self.target.rfind(['.', '['])) {
            (true, _) => self
                .target
                .find('[')
                .map_or(&self.target, |at| &self.target[..at]),
            (false, Some(at)) => &self.target[..at],
            (false, None) => &self.target,
        }
    }

    fn of_step(step: &Step) -> Self {
        let op = step.op.as_str();
        Self {
            access: match op.strip_prefix("volatile ").unwrap_or(op) {
                "read" => Access::Read,
                "write" => Access::Write,
                "update" => Access::Update,
                "release" | "release shared" => Access::GiveUp,
                "acquire" | "acquire shared" => Access::Take,
                _ => Access::Other,
            },
            target: step.target.clone(),
            is_of_collection: false,
            place: step.place.clone(),
        }
    }

    /// What an entry of a view of a class says: `c: write`, `content of c: read`.
    fn of_entry(class: &str, words: &str, place: Option<&Place>) -> Self {
        let mut end = Self::of_words(words, place);
        if let Some(field) = end.target.strip_prefix("content of ") {
            end.is_of_collection = true;
            end.target = field.to_owned();
        }
        // Views name the fields of one class, by their own names.
        if !end.target.contains('.') {
            end.target.insert_str(0, &format!("{class}."));
        }
        end
    }

    /// What a part of a typing or an entry of a view says: `reads a.B.c`, `c: write`.
    fn of_words(words: &str, place: Option<&Place>) -> Self {
        let (access, target) = if let Some((target, op)) = words.rsplit_once(": ") {
            (access_of(op), target)
        } else if let Some(lock) = words.strip_prefix("gives back ") {
            (Access::GiveUp, lock)
        } else {
            let (verb, target) = words.split_once(' ').unwrap_or((words, ""));
            if verb == "calls"
                && let Some((class, method)) = callee(target)
            {
                // Which object is called is not said: two calls of one class are taken for calls of one object.
                return Self {
                    access: access_of_call(method),
                    target: format!("{class}[*]"),
                    is_of_collection: false,
                    place: place.cloned(),
                };
            }
            (access_of(verb), target)
        };
        Self {
            access,
            target: target.to_owned(),
            is_of_collection: false,
            place: place.cloned(),
        }
    }
}

fn access_of(word: &str) -> Access {
    match word.trim_end_matches('s') {
        "take" => Access::Take,
        "read" => Access::Read,
        "write" => Access::Write,
        "update" => Access::Update,
        _ => Access::Other,
    }
}

/// What an instruction does to a field that changes, or a call to an object of the library.
fn accessed(body: &RegionBody<'_>, id: InstrId) -> Option<(Access, String)> {
    let instr = body.body.instr(id);
    match instr.op {
        Op::GetField { .. } | Op::GetStatic { .. } => {
            Some((Access::Read, body.changing_field(instr)?))
        }
        Op::PutField { .. } | Op::PutStatic { .. } => {
            Some((Access::Write, body.changing_field(instr)?))
        }
        Op::Invoke { .. } => {
            let (class, method) = body.callee(instr)?;
            class.starts_with("java/util/").then(|| {
                (
                    access_of_call(method),
                    format!("{}[*]", class.replace('/', ".")),
                )
            })
        }
        _ => None,
    }
}

/// `java.util.Map` and `get` of `java.util.Map.get(java.lang.Object)`.
fn callee(words: &str) -> Option<(&str, &str)> {
    words.split_once('(')?.0.rsplit_once('.')
}

/// What a call does to the state of its receiver, by the names that the library uses.
pub fn access_of_call(method: &str) -> Access {
    const ASKS: [&str; 12] = [
        "get",
        "contains",
        "is",
        "size",
        "length",
        "peek",
        "first",
        "last",
        "has",
        "element",
        "remainingCapacity",
        "sum",
    ];
    const CHANGES: [&str; 20] = [
        "getAnd",
        "put",
        "set",
        "add",
        "remove",
        "poll",
        "take",
        "offer",
        "push",
        "pop",
        "clear",
        "increment",
        "decrement",
        "compare",
        "replace",
        "merge",
        "compute",
        "append",
        "update",
        "reset",
    ];
    let begins = |names: &[&str]| names.iter().any(|name| method.starts_with(name));
    if begins(&CHANGES) {
        Access::Update
    } else if begins(&ASKS) {
        Access::Read
    } else {
        Access::Other
    }
}

/// Both ends of a tear, and what is known of what comes between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    pub first: End,
    pub second: End,
    /// What another thread does first in between, if an order was recorded.
    pub between: Option<Access>,
    pub only_synchronization: bool,
}

impl Ends {
    /// From the strongest evidence that names two accesses.
    pub fn of(finding: &Finding) -> Option<Self> {
        let evidence = &finding.evidence;
        Self::of_order(evidence)
            .or_else(|| Self::of_sections(evidence))
            .or_else(|| Self::of_typing(evidence))
            .or_else(|| {
                let reduction = evidence.reductions.first()?;
                Some(Self {
                    first: End::of_step(&reduction.commit),
                    second: End::of_step(&reduction.violation),
                    between: None,
                    only_synchronization: false,
                })
            })
    }

    fn of_order(evidence: &Evidence) -> Option<Self> {
        evidence.interleavings.iter().find_map(|order| {
            let (from, to) = order.torn?;
            let step = |n| order.steps.iter().find(|step| step.n == n);
            let (from, to) = (step(from)?, step(to)?);
            let other = (order.steps.iter())
                .find(|step| step.n > from.n && step.n < to.n && step.thread != from.thread);
            Some(Self {
                first: End::of_step(from),
                second: End::of_step(to),
                between: other.map(|step| End::of_step(step).access),
                only_synchronization: (order.edges.iter()).all(|edge| edge.kind != EdgeKind::Data),
            })
        })
    }

    /// A read of the first critical section, and a write of a later one, where there are such: a write says more than a read.
    fn of_sections(evidence: &Evidence) -> Option<Self> {
        let views = evidence.method_views.first()?;
        let reads = |words: &&String| words.ends_with(": read");
        let writes = |words: &&String| words.ends_with(": write");
        let (first, later) = views.sections.split_first()?;
        let last = (later
            .iter()
            .rfind(|section| section.accesses.iter().any(|one| writes(&one))))
        .or(later.last())?;
        let before = (first.accesses.iter().find(reads)).or(first.accesses.first())?;
        let after = (last.accesses.iter().find(writes)).or(last.accesses.last())?;
        Some(Self {
            first: End::of_entry(&views.class, before, first.places.first()),
            second: End::of_entry(&views.class, after, last.places.last()),
            between: None,
            only_synchronization: false,
        })
    }

    fn of_typing(evidence: &Evidence) -> Option<Self> {
        let typing = evidence.typings.first()?;
        // A part that does not compose with itself, as the halves of a long, or with what types do not know.
        if let [only] = typing.parts.as_slice() {
            let only = End::of_words(&only.what, only.place.as_ref());
            return (only.access == Access::Read).then(|| Self {
                first: only.clone(),
                second: only,
                between: None,
                only_synchronization: false,
            });
        }
        // Before the two that do not compose stand the calls that lead to them.
        let [.., first, last] = typing.parts.as_slice() else {
            return None;
        };
        // One part, of which types do not know what it does.
        if first.leads_to(last) {
            return None;
        }
        Some(Self {
            first: End::of_words(&first.what, first.place.as_ref()),
            second: End::of_words(&last.what, last.place.as_ref()),
            between: None,
            only_synchronization: false,
        })
    }

    /// The same first end, and a write of the same field or a call that changes the same object, which the code has behind it instead of a second read.
    pub fn with_write(&self, body: &RegionBody<'_>) -> Option<Self> {
        let place = (self.second.place.as_ref()).filter(|_| self.are_reads())?;
        let (access, line) = match self.first.field() {
            Some(field) => (Access::Write, body.written_at(field)?),
            None => {
                let flow = Flow::of(body, self)?;
                let changed =
                    (flow.first.first()).and_then(|first| apart::changed_behind(body, *first))?;
                (Access::Update, u32::from(body.body.instr(changed).line))
            }
        };
        let later = Self {
            second: End {
                access,
                target: self.first.target.clone(),
                is_of_collection: self.first.is_of_collection,
                place: Some(Place {
                    line: Some(line),
                    ..place.clone()
                }),
            },
            ..self.clone()
        };
        // A reference that is followed, and replaced by something that does not depend on it, is read for its own sake.
        let depends = || Flow::of(body, &later).is_some_and(|flow| flow.stale.is_some());
        (self.same_target() || self.first.field().is_none() || depends()).then_some(later)
    }

    /// What is read under a lock that is then given up, and what is written when it was taken again, if the one decides the other.
    pub fn in_sections(&self, body: &RegionBody<'_>) -> Option<Self> {
        /// So many pairs are tried at most.
        const MOST: usize = 64;
        let place = self.first.place.as_ref().filter(|_| self.gives_up_lock())?;
        let line = |id: InstrId| u32::from(body.body.instr(id).line);
        let given_up = self.first.line()?;
        let taken = self.second.line()?;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for id in sections::guarded(body) {
            let Some((access, target)) = accessed(body, id) else {
                continue;
            };
            let end = End {
                access,
                target,
                is_of_collection: false,
                place: Some(Place {
                    line: Some(line(id)),
                    ..place.clone()
                }),
            };
            match access {
                Access::Read if line(id) <= given_up => reads.push(end),
                Access::Write | Access::Update if line(id) >= taken => writes.push(end),
                _ => {}
            }
        }
        let pairs = (reads.iter()).flat_map(|read| writes.iter().map(move |write| (read, write)));
        (pairs.take(MOST))
            .map(|(read, write)| Self {
                first: read.clone(),
                second: write.clone(),
                ..self.clone()
            })
            .find(|ends| Flow::of(body, ends).is_some_and(|flow| flow.stale.is_some()))
    }

    /// Whether there is but one access: what it is torn from is not known.
    pub fn is_one(&self) -> bool {
        self.first == self.second
    }

    /// Says of an end that is a call of the program's own what the called method does, where that is one thing.
    pub fn look_inside(&mut self, body: &RegionBody<'_>, flow: &Flow) {
        for (end, ids) in [
            (&mut self.first, &flow.first),
            (&mut self.second, &flow.second),
        ] {
            if end.access == Access::Other
                && let [id] = ids.as_slice()
                && let Some((field, writes)) = body.effect(*id)
            {
                end.access = if writes { Access::Write } else { Access::Read };
                end.target = field;
            }
        }
    }

    /// The method that both ends lie in, if that is another one than the region.
    pub fn inside(&self, region: &Region) -> Option<Region> {
        let (first, second) = (self.first.place.as_ref()?, self.second.place.as_ref()?);
        let same = first.class == second.class && first.method == second.method;
        let own = first.class == region.class && first.method.as_ref() == Some(&region.method);
        (same && !own).then(|| Region {
            class: first.class.clone(),
            method: first.method.clone().unwrap_or_default(),
            ..Region::default()
        })
    }

    pub fn are_reads(&self) -> bool {
        self.first.access == Access::Read && self.second.access == Access::Read
    }

    /// Whether the region is torn between giving up a lock and taking it again.
    pub fn gives_up_lock(&self) -> bool {
        self.first.access == Access::GiveUp && self.second.access == Access::Take
    }

    pub fn same_target(&self) -> bool {
        self.first.target == self.second.target
            && self.first.is_of_collection == self.second.is_of_collection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_apart() {
        let of = |target: &str| End {
            access: Access::Read,
            target: target.to_owned(),
            is_of_collection: false,
            place: None,
        };
        let field = of("bank.Account@7.balance");
        assert_eq!(field.short_target(), "Account@7.balance");
        assert_eq!(
            (field.field(), field.object()),
            (Some("balance"), "bank.Account@7")
        );
        let key = of(r#"java.util.HashMap@3["a.b"]"#);
        assert_eq!((key.field(), key.object()), (None, "java.util.HashMap@3"));
        let fixed = of("bank.Ids.last");
        assert_eq!((fixed.field(), fixed.object()), (Some("last"), "bank.Ids"));
        assert_eq!(fixed.short_target(), "Ids.last");
        assert_eq!(of("x").short_target(), "x");
    }
}
