//! What a modelled method does.

use serde::Deserialize;

use crate::error::LoadError;

/// The model of a method.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The class that declares it, by internal name.
    pub class: String,
    /// The names it holds for.
    pub names: Vec<String>,
    /// The only descriptor it holds for.
    pub descriptor: Option<String>,
    /// What runs in a new thread.
    pub start: Vec<Callback>,
    /// What runs in the calling thread.
    pub call: Vec<Callback>,
    /// Whether what is started may run several times at once.
    pub repeats: bool,
    /// Whether what is started never runs beside itself.
    pub sequential: bool,
    /// What it does to the receiver as a lock.
    pub lock: Option<(LockAction, LockMode)>,
    /// Its result is the receiver as a lock in this mode.
    pub view: Option<LockMode>,
    /// What it does to the receiver, a lock that gives stamps.
    pub stamped: Option<Stamped>,
    /// It gives up a lock and takes it again.
    pub waits: Option<Waits>,
    /// Its result is a condition of the receiver, a lock.
    pub condition: bool,
    /// What it does to the receiver's content, in one step.
    pub access: Option<Access>,
    /// What it does to the receiver's content in several steps.
    pub touches: Option<Access>,
    /// Whether it changes the content only if that is what the caller expects.
    pub checked: bool,
    /// What it returns, if not what its signature suggests.
    pub returns: Option<Returns>,
    /// From which array to which elements flow.
    pub copies: Option<(Operand, Operand)>,
}

/// What a method returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returns {
    /// An operand.
    Operand(Operand),
    /// A new instance of a class.
    New(String),
}

/// A method called on an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// On what.
    pub operand: Operand,
    /// Calls without arguments that lead from the operand to the receiver.
    pub steps: Vec<String>,
    /// The class that declares the method.
    pub class: String,
    /// Its name.
    pub method: String,
}

/// What a callback starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The receiver.
    Receiver,
    /// An argument, the receiver not counted.
    Arg(usize),
    /// What the receiver holds.
    Content,
}

/// What is done to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockAction {
    /// Waits for it and takes it.
    Acquire,
    /// Takes it if the result is true.
    Try,
    /// Gives it up.
    Release,
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockMode {
    /// With other readers.
    Shared,
    /// Alone.
    Exclusive,
}

/// What a method of a lock does that gives stamps for what it grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamped {
    /// Takes it with other readers, if the stamp is not zero.
    TryRead,
    /// Takes it alone, or turns what is held into that, if the stamp is not zero.
    TryWrite,
    /// Gives it up, however it is held.
    Release,
    /// Takes nothing: what is read holds only if it is validated.
    Optimistic,
    /// Tells whether nobody wrote since the stamp was given.
    Validate,
}

/// Which lock a method gives up and takes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// The receiver's monitor.
    Monitor,
    /// The explicit lock that the receiver is a condition of.
    Condition,
}

/// How a method touches its receiver's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the three kinds of access")]
pub enum Access {
    Read,
    Write,
    Update,
}

impl Effect {
    /// Whether it says more than the signature about where references go.
    pub fn moves_references(&self) -> bool {
        !self.start.is_empty()
            || !self.call.is_empty()
            || self.returns.is_some()
            || self.copies.is_some()
    }

    /// Whether it has to do with locks.
    pub fn is_about_locks(&self) -> bool {
        self.lock.is_some()
            || self.view.is_some()
            || self.stamped.is_some()
            || self.waits.is_some()
            || self.condition
    }

    /// Whether the model holds for a method of this descriptor.
    pub fn fits(&self, descriptor: &str) -> bool {
        self.descriptor
            .as_deref()
            .is_none_or(|own| own == descriptor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    method: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    class: String,
    name: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    descriptor: Option<String>,
    #[serde(default)]
    start: Vec<String>,
    #[serde(default)]
    call: Vec<String>,
    #[serde(default)]
    repeats: bool,
    #[serde(default)]
    sequential: bool,
    lock: Option<LockAction>,
    mode: Option<LockMode>,
    view: Option<LockMode>,
    stamped: Option<Stamped>,
    waits: Option<Waits>,
    #[serde(default)]
    condition: bool,
    access: Option<Access>,
    touches: Option<Access>,
    #[serde(default)]
    checked: bool,
    returns: Option<String>,
    copies: Option<[String; 2]>,
}

/// Reads one model file.
pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Effect>, LoadError> {
    let bad = |reason: String| LoadError::BadModel {
        name: name.to_owned(),
        reason,
    };
    let file: File = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
    let callbacks = |list: &[String]| {
        list.iter()
            .map(|text| callback(text).ok_or_else(|| bad(format!("{text} is no callback"))))
            .collect::<Result<Vec<_>, _>>()
    };
    let whole = |text: &str| operand(text).ok_or_else(|| bad(format!("{text} is no operand")));
    let returns = |text: &str| match text.strip_prefix("new:") {
        Some(class) => Ok(Returns::New(class.to_owned())),
        None => whole(text).map(Returns::Operand),
    };
    file.method
        .into_iter()
        .map(|entry| {
            Ok(Effect {
                start: callbacks(&entry.start)?,
                call: callbacks(&entry.call)?,
                class: entry.class,
                names: entry.name.into_iter().chain(entry.names).collect(),
                descriptor: entry.descriptor,
                repeats: entry.repeats,
                sequential: entry.sequential,
                lock: entry
                    .lock
                    .map(|action| (action, entry.mode.unwrap_or(LockMode::Exclusive))),
                view: entry.view,
                stamped: entry.stamped,
                waits: entry.waits,
                condition: entry.condition,
                access: entry.access,
                touches: entry.touches,
                checked: entry.checked,
                returns: entry.returns.as_deref().map(&returns).transpose()?,
                copies: match &entry.copies {
                    Some([from, to]) => Some((whole(from)?, whole(to)?)),
                    None => None,
                },
            })
        })
        .collect()
}

fn operand(text: &str) -> Option<Operand> {
    Some(match text {
        "receiver" => Operand::Receiver,
        "content" => Operand::Content,
        argument => Operand::Arg(argument.strip_prefix("arg")?.parse().ok()?),
    })
}

/// `OPERAND[.step…]:CLASS.METHOD`
fn callback(text: &str) -> Option<Callback> {
    let (from, to) = text.split_once(':')?;
    let (class, method) = to.rsplit_once('.')?;
    let mut parts = from.split('.');
    let operand = operand(parts.next()?)?;
    let steps = parts.map(str::to_owned).collect();
    Some(Callback {
        operand,
        steps,
        class: class.to_owned(),
        method: method.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Operand, callback};
    use crate::library::Library;

    #[test]
    fn callbacks_are_read_as_documented() {
        let parsed = callback("arg0.iterator.next:java/util/concurrent/Callable.call").unwrap();
        assert_eq!(parsed.operand, Operand::Arg(0));
        assert_eq!(parsed.steps, ["iterator", "next"]);
        assert_eq!(
            (parsed.class.as_str(), parsed.method.as_str()),
            ("java/util/concurrent/Callable", "call")
        );
        assert_eq!(callback("nobody:A.b"), None);
        assert_eq!(callback("receiver"), None);
    }

    #[test]
    fn the_embedded_models_parse() {
        let library = Library::embedded().unwrap();
        assert!(library.scope().is_merged("java/lang/String"));
        assert!(!library.scope().is_merged("java/lang/StringBuffer"));
        assert!(library.scope().is_merged("java/time/Instant"));
        assert!(
            library
                .scope()
                .is_reflection("java/lang/invoke/MethodHandle", "invokeExact")
        );
        assert!(library.effects.contains_key("java/lang/Thread.start"));
    }
}
