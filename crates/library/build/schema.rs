//! The data as it is written: its keys, and what an entry may not say.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::words::{Access, Effect, LockAction, LockMode, Of, Stamped, Step, Subject, Waits, When};

/// A file that does not say what it should.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct BadData {
    pub file: String,
    pub line: usize,
    pub reason: String,
}

/// A file of methods.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Names for several classes, to be used among those of an entry.
    #[serde(default)]
    group: HashMap<String, Vec<String>>,
    #[serde(default)]
    method: Vec<Spanned<Method>>,
    #[serde(default)]
    field: Vec<Field>,
}

/// An entry: everything that is known of some methods.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Method {
    pub classes: Vec<String>,
    #[serde(default)]
    pub named: Vec<String>,
    pub names: Vec<String>,
    #[serde(default)]
    pub descriptors: Vec<String>,

    // The content of an object.
    pub access: Option<Access>,
    pub key: Option<usize>,
    pub field: Option<String>,
    #[serde(default)]
    pub on: Subject,
    #[serde(default)]
    pub also: Vec<Also>,
    pub thrown: Option<String>,
    #[serde(default)]
    pub step: bool,
    #[serde(default)]
    pub written: When,
    #[serde(default)]
    pub volatile: bool,
    #[serde(default)]
    pub approximate: bool,
    #[serde(default)]
    pub values: usize,
    pub atomic: Option<bool>,
    pub whole: Option<Access>,
    #[serde(default)]
    pub checked: bool,

    // The order of threads, and locks.
    pub signals: Option<Subject>,
    pub awaits: Option<Subject>,
    pub meets: Option<Subject>,
    #[serde(default)]
    pub if_result: bool,
    pub marks: Option<Effect>,
    pub lock: Option<LockAction>,
    pub mode: Option<LockMode>,
    pub lock_view: Option<LockMode>,
    pub stamped: Option<Stamped>,
    pub waits: Option<Waits>,
    #[serde(default)]
    pub condition: bool,

    // Control and references.
    #[serde(default)]
    pub starts: Vec<Callback>,
    #[serde(default)]
    pub calls_back: Vec<Callback>,
    #[serde(default)]
    pub repeats: bool,
    #[serde(default)]
    pub sequential: bool,
    pub returns: Option<Returns>,
    pub copies: Option<(Operand, Operand)>,

    // Steps.
    pub is: Option<Step>,
    #[serde(default)]
    pub reads: Vec<Read>,
    #[serde(default)]
    pub writes: Vec<Operand>,
    #[serde(default)]
    pub view: bool,
    #[serde(default)]
    pub fresh: bool,
    #[serde(default)]
    pub keeps: bool,
    #[serde(default)]
    pub value_methods: Vec<Operand>,
    #[serde(default)]
    pub asks: Vec<Question>,
    #[serde(default)]
    pub applies: Vec<Operand>,
    #[serde(default)]
    pub plain: Vec<Operand>,
    #[serde(default)]
    pub natural: bool,
    #[serde(default)]
    pub own: bool,
    #[serde(default)]
    pub alone: bool,
    #[serde(default)]
    pub runs: Vec<Named>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    pub field: String,
    pub access: Access,
    #[serde(default)]
    pub when: When,
    #[serde(default)]
    pub approximate: bool,
    #[serde(default)]
    pub of: Of,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub class: String,
    pub name: String,
    pub frozen: bool,
}

/// `receiver`, `arg0`…, or `content`: what the receiver holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Operand {
    Receiver,
    Arg(usize),
    Content,
}

/// An operand, or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Read {
    Operand(Operand),
    All,
}

/// An operand, or `new:CLASS`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Returns {
    Operand(Operand),
    New(String),
}

/// `OPERAND[.step…]:CLASS.METHOD`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Callback {
    pub operand: Operand,
    pub steps: Vec<String>,
    pub method: Named,
}

/// `CLASS.METHOD`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Named {
    pub class: String,
    pub name: String,
}

/// `arg0.java/lang/CharSequence.length()I`: a method that takes no references and gives none but strings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Question {
    pub operand: Operand,
    pub method: Named,
    pub descriptor: String,
}

impl TryFrom<String> for Operand {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match text.as_str() {
            "receiver" => Self::Receiver,
            "content" => Self::Content,
            other => {
                let number = other.strip_prefix("arg").and_then(|n| n.parse().ok());
                Self::Arg(number.ok_or_else(|| format!("{other} is no operand"))?)
            }
        })
    }
}

impl TryFrom<String> for Read {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "all" => Ok(Self::All),
            _ => text.try_into().map(Self::Operand),
        }
    }
}

impl TryFrom<String> for Returns {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.strip_prefix("new:") {
            Some(class) => Ok(Self::New(class.to_owned())),
            None => text.try_into().map(Self::Operand),
        }
    }
}

impl TryFrom<String> for Named {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (class, name) = text
            .rsplit_once('.')
            .ok_or_else(|| format!("{text} is no method"))?;
        Ok(Self {
            class: class.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl TryFrom<String> for Callback {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let no = || format!("{text} is no callback");
        let (from, method) = text.split_once(':').ok_or_else(no)?;
        let mut parts = from.split('.').map(str::to_owned);
        Ok(Self {
            operand: parts.next().ok_or_else(no)?.try_into()?,
            steps: parts.collect(),
            method: method.to_owned().try_into()?,
        })
    }
}

impl TryFrom<String> for Question {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let no = || format!("{text} is no question");
        let (operand, method) = text.split_once('.').ok_or_else(no)?;
        let (method, descriptor) = method.split_at(method.find('(').ok_or_else(no)?);
        let (taken, given) = descriptor.split_once(')').ok_or_else(no)?;
        let plain = !taken.contains(['L', '['])
            && (given == "Ljava/lang/String;" || !given.contains(['L', '[']));
        if !plain {
            return Err(format!("{text} passes references"));
        }
        Ok(Self {
            operand: operand.to_owned().try_into()?,
            method: method.to_owned().try_into()?,
            descriptor: descriptor.to_owned(),
        })
    }
}

/// The parts of an entry, of which no two entries may have the same for one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Access,
    Order,
    Flow,
    Steps,
}

impl Method {
    /// What calls do to the order of threads, as a run sees it: what is said, or what follows from what is said of locks.
    pub fn order(&self) -> Option<(Effect, Subject)> {
        let said = [
            (Effect::Signal, self.signals),
            (Effect::Await, self.awaits),
            (Effect::Meet, self.meets),
        ];
        let said = said
            .into_iter()
            .find_map(|(effect, on)| Some((effect, on?)));
        let stamped = match self.stamped {
            Some(Stamped::TryRead | Stamped::TryWrite) => Some(Effect::Acquire),
            Some(Stamped::Release) => Some(Effect::Release),
            Some(Stamped::Optimistic | Stamped::Validate) | None => None,
        };
        let lock = match self.lock {
            Some(LockAction::Acquire | LockAction::Try) => Some(Effect::Acquire),
            Some(LockAction::Release) => Some(Effect::Release),
            None => stamped,
        };
        let waits = (self.waits == Some(Waits::Condition)).then_some(Effect::Wait);
        let marked = self.marks.or(lock).or(waits);
        said.or(marked.map(|effect| (effect, Subject::Receiver)))
    }

    /// What is done to the content as a whole.
    pub fn whole(&self) -> Option<Access> {
        self.whole.or(self.access)
    }

    /// Whether it says where references, locks and control go, or what happens to the content as a whole.
    pub fn is_flow(&self) -> bool {
        self.atomic.is_some()
            || self.lock.is_some()
            || self.lock_view.is_some()
            || self.stamped.is_some()
            || self.waits.is_some()
            || self.condition
            || !self.starts.is_empty()
            || !self.calls_back.is_empty()
            || self.returns.is_some()
            || self.copies.is_some()
    }

    /// Whether the result is the receiver or another face of it.
    pub fn gives_receiver(&self) -> bool {
        self.view || self.returns == Some(Returns::Operand(Operand::Receiver))
    }

    /// The classes that calls name.
    pub fn named(&self) -> &[String] {
        if self.named.is_empty() {
            &self.classes
        } else {
            &self.named
        }
    }

    fn parts(&self) -> impl Iterator<Item = (Part, &[String])> {
        [
            (Part::Access, self.access.is_some(), self.named()),
            (Part::Order, self.order().is_some(), self.named()),
            (Part::Flow, self.is_flow(), &self.classes),
            (Part::Steps, self.is.is_some(), &self.classes),
        ]
        .into_iter()
        .filter_map(|(part, has, classes)| has.then_some((part, classes)))
    }

    /// What is wrong with it, looked at by itself.
    fn fault(&self) -> Option<&'static str> {
        let steps = !self.reads.is_empty()
            || !self.writes.is_empty()
            || self.view
            || self.fresh
            || self.keeps
            || !self.value_methods.is_empty()
            || !self.asks.is_empty()
            || !self.applies.is_empty()
            || !self.plain.is_empty()
            || self.natural
            || self.own
            || self.alone
            || !self.runs.is_empty();
        let accesses = self.key.is_some()
            || self.field.is_some()
            || self.on != Subject::Receiver
            || !self.also.is_empty()
            || self.thrown.is_some()
            || self.step
            || self.volatile
            || self.approximate
            || self.values != 0;
        let of_content = [
            &self.writes,
            &self.value_methods,
            &self.applies,
            &self.plain,
        ]
        .into_iter()
        .flatten()
        .any(|operand| *operand == Operand::Content)
            || self.reads.contains(&Read::Operand(Operand::Content))
            || (self.asks.iter()).any(|question| question.operand == Operand::Content);
        let orders = [self.signals, self.awaits, self.meets];
        let orders = orders.iter().flatten().count() + usize::from(self.marks.is_some());
        let locks = [
            self.lock.is_some() || self.stamped.is_some(),
            self.waits == Some(Waits::Condition),
        ];
        let locks = locks.iter().filter(|has| **has).count();
        let wrong = [
            (self.classes.is_empty(), "no classes"),
            (self.names.is_empty(), "no names"),
            (
                self.descriptors
                    .iter()
                    .any(|text| !text.starts_with('(') || !text.contains(')')),
                "a descriptor begins with its parameters",
            ),
            (self.parts().next().is_none(), "says nothing of its methods"),
            (
                accesses && self.access.is_none(),
                "says more of an access, but not which: `access`",
            ),
            (
                self.whole.is_some() && self.atomic.is_none(),
                "`whole` needs `atomic`",
            ),
            (
                self.atomic.is_some() && self.whole().is_none(),
                "`atomic` needs an `access` or `whole`",
            ),
            (
                self.checked && self.atomic.is_none(),
                "`checked` needs `atomic`",
            ),
            (
                self.written != When::Always && self.access != Some(Access::Update),
                "`written` needs an `access` that is an update",
            ),
            (
                self.written == When::First,
                "`written` is `true` or `false`",
            ),
            (
                self.mode.is_some() && self.lock.is_none(),
                "`mode` needs `lock`",
            ),
            (
                self.if_result && orders == 0,
                "`if-result` needs `signals`, `awaits` or `meets`",
            ),
            (
                orders + locks > 1,
                "does several things to the order of threads",
            ),
            (
                self.marks.is_some_and(Effect::is_access),
                "`marks` is acquire, release, wait or notify",
            ),
            (
                (self.repeats || self.sequential) && self.starts.is_empty(),
                "starts nothing that could repeat or follow itself",
            ),
            (
                steps && self.is.is_none(),
                "says more of a step, but not which: `is`",
            ),
            (
                of_content,
                "steps know no `content`, only the receiver and arguments",
            ),
            (
                !self.named.is_empty() && self.access.is_none() && self.order().is_none(),
                "`named` is for what runs see of calls: an access or the order of threads",
            ),
        ];
        wrong
            .into_iter()
            .find_map(|(wrong, reason)| wrong.then_some(reason))
    }
}

/// All entries.
#[derive(Debug, Default)]
pub struct Methods {
    pub entries: Vec<Method>,
    pub frozen: Vec<Field>,
    /// Where each part of each method is said, by class, name and descriptor.
    said: HashMap<(Part, String, String), Vec<(String, String)>>,
}

impl Methods {
    /// Adds what a file says.
    pub fn read(&mut self, file: &str, text: &str) -> Result<(), BadData> {
        let bad = |at: Option<Range<usize>>, reason: String| BadData {
            file: file.to_owned(),
            line: at.map_or(1, |at| line(text, at.start)),
            reason,
        };
        let parsed: File =
            toml::from_str(text).map_err(|e| bad(e.span(), e.message().to_owned()))?;
        self.frozen
            .extend(parsed.field.into_iter().filter(|field| field.frozen));
        for entry in parsed.method {
            let at = entry.span();
            let mut method = entry.into_inner();
            let bad = |reason: String| bad(Some(at.clone()), reason);
            for classes in [&mut method.classes, &mut method.named] {
                *classes = expand(classes, &parsed.group).map_err(&bad)?;
            }
            if let Some(reason) = method.fault() {
                return Err(bad(reason.to_owned()));
            }
            let here = format!("{file}:{}", line(text, at.start));
            self.note(&method, &here).map_err(bad)?;
            self.entries.push(method);
        }
        Ok(())
    }

    /// Refuses what another entry says already: with the same descriptor, or with none.
    fn note(&mut self, method: &Method, here: &str) -> Result<(), String> {
        let none = [String::new()];
        let descriptors = match &method.descriptors[..] {
            [] => &none[..],
            some => some,
        };
        for (part, classes) in method.parts() {
            for class in classes {
                for name in &method.names {
                    let said = self.said.entry((part, class.clone(), name.clone()));
                    let said = said.or_default();
                    for descriptor in descriptors {
                        if let Some((_, there)) = said.iter().find(|(own, _)| own == descriptor) {
                            return Err(format!(
                                "{class}.{name}{descriptor} is described in {there} already"
                            ));
                        }
                        said.push((descriptor.clone(), here.to_owned()));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The classes, with those of groups in place of the names of groups.
fn expand(
    classes: &[String],
    groups: &HashMap<String, Vec<String>>,
) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for class in classes {
        match groups.get(class) {
            Some(group) => all.extend_from_slice(group),
            None if class.contains('/') => all.push(class.clone()),
            None => {
                return Err(format!(
                    "{class} is neither a class nor a group of this file"
                ));
            }
        }
    }
    Ok(all)
}

/// The content of `platform.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    pub hook: Vec<Hook>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    pub class: String,
    pub methods: Vec<String>,
    pub at: At,
    pub effect: HookEffect,
    #[serde(default)]
    pub on: Subject,
}

/// `entry`, `return`, or `CLASS.NAME`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum At {
    Entry,
    Return,
    Call(Named),
}

impl TryFrom<String> for At {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "entry" => Ok(Self::Entry),
            "return" => Ok(Self::Return),
            _ => text.try_into().map(Self::Call),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookEffect {
    Signal,
    Await,
}

/// The content of `scope.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    pub opaque: Vec<String>,
    pub entered: Vec<String>,
    pub containers: Vec<String>,
    pub collections: Vec<String>,
    pub merged: Vec<String>,
    pub reflection: Vec<String>,
    pub io: Vec<String>,
    pub thread_local: Vec<String>,
    pub tasks: Vec<String>,
    pub values: Vec<String>,
    pub plain: Vec<String>,
    pub unlocked: Vec<String>,
    pub quiet_constructors: Vec<String>,
}

/// A file of another form.
pub fn parse<T: for<'de> Deserialize<'de>>(file: &str, text: &str) -> Result<T, BadData> {
    toml::from_str(text).map_err(|error| BadData {
        file: file.to_owned(),
        line: error.span().map_or(1, |at| line(text, at.start)),
        reason: error.message().to_owned(),
    })
}

fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Methods, String> {
        let mut methods = Methods::default();
        for (number, text) in texts.iter().enumerate() {
            methods
                .read(&format!("{number}.toml"), text)
                .map_err(|error| error.to_string())?;
        }
        Ok(methods)
    }

    const GET: &str = r#"
[[method]]
classes = ["a/Map"]
names = ["get"]
access = "read"
key = 0
"#;

    #[test]
    fn a_mistake_names_its_file_and_line() {
        let unknown = GET.replace("key = 0", "keys = 0");
        let error = read(&[GET, &unknown]).unwrap_err();
        assert!(
            error.starts_with("1.toml:6: unknown field `keys`"),
            "{error}"
        );
        let error = read(&[&GET.replace("access", "is = \"const\"\n#")]).unwrap_err();
        assert_eq!(
            error,
            "0.toml:2: says more of an access, but not which: `access`"
        );
        let error = read(&[&GET.replace("a/Map", "maps")]).unwrap_err();
        assert_eq!(
            error,
            "0.toml:2: maps is neither a class nor a group of this file"
        );
        let error = read(&[&GET.replace("key = 0", "starts = [\"nobody:A.b\"]")]).unwrap_err();
        assert!(error.contains("nobody is no operand"), "{error}");
    }

    #[test]
    fn what_is_said_already_is_refused_and_other_parts_and_overloads_are_not() {
        let error = read(&[GET, GET]).unwrap_err();
        assert_eq!(
            error,
            "1.toml:2: a/Map.get is described in 0.toml:2 already"
        );
        let steps = GET.replace("access = \"read\"\nkey = 0", "is = \"const\"");
        let overload = format!("{GET}descriptors = [\"(I)\"]\n");
        assert_eq!(read(&[GET, &steps, &overload]).unwrap().entries.len(), 3);
        assert!(read(&[&overload, &overload]).is_err());
    }

    #[test]
    fn calls_are_known_by_the_names_that_they_use() {
        let methods = read(&[&format!("{GET}named = [\"a/HashMap\"]\natomic = true\n")]).unwrap();
        let parts: Vec<_> = methods.entries[0].parts().collect();
        let (named, own) = (["a/HashMap".to_owned()], ["a/Map".to_owned()]);
        assert_eq!(parts, [(Part::Access, &named[..]), (Part::Flow, &own[..])]);
    }

    #[test]
    fn where_runs_see_a_lock_follows_from_what_is_done_to_it() {
        let order = |said: &str| {
            let said = format!("[[method]]\nclasses = [\"a/Lock\"]\nnames = [\"m\"]\n{said}\n");
            read(&[&said]).unwrap().entries[0].order()
        };
        let receiver = |effect| Some((effect, Subject::Receiver));
        assert_eq!(order("lock = \"try\""), receiver(Effect::Acquire));
        assert_eq!(order("stamped = \"release\""), receiver(Effect::Release));
        assert_eq!(order("stamped = \"validate\""), None);
        assert_eq!(order("waits = \"condition\""), receiver(Effect::Wait));
        assert_eq!(order("waits = \"monitor\""), None);
        assert_eq!(
            order("signals = \"arg0\""),
            Some((Effect::Signal, Subject::Arg0))
        );
    }

    #[test]
    fn callbacks_are_read_as_documented() {
        let text = "arg0.iterator.next:java/util/concurrent/Callable.call".to_owned();
        let parsed = Callback::try_from(text).unwrap();
        assert_eq!(parsed.operand, Operand::Arg(0));
        assert_eq!(parsed.steps, ["iterator", "next"]);
        assert_eq!(parsed.method.class, "java/util/concurrent/Callable");
        assert_eq!(parsed.method.name, "call");
        assert!(Callback::try_from("nobody:A.b".to_owned()).is_err());
        assert!(Callback::try_from("receiver".to_owned()).is_err());
    }

    #[test]
    fn a_question_names_whom_and_what_and_passes_no_reference() {
        let asked = |text: &str| Question::try_from(text.to_owned());
        let question = asked("arg0.java/lang/CharSequence.charAt(I)C").unwrap();
        assert_eq!(question.operand, Operand::Arg(0));
        assert_eq!(question.method.class, "java/lang/CharSequence");
        assert_eq!(
            (&*question.method.name, &*question.descriptor),
            ("charAt", "(I)C")
        );
        assert!(asked("arg0.java/util/Comparator.compare(Ljava/lang/Object;)I").is_err());
        assert!(asked("arg0.length").is_err());
    }
}
