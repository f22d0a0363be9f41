//! The library model: what calls of methods that are not rewritten do, as data (`models/*.toml`, described in `models/README.md`).

use rustc_hash::FxHashMap;
use serde::Deserialize;
use untorn_classfile::read::MemberRef;

/// The files, by name.
const FILES: [(&str, &str); 4] = [
    ("atomics.toml", include_str!("../../models/atomics.toml")),
    (
        "collections.toml",
        include_str!("../../models/collections.toml"),
    ),
    ("locks.toml", include_str!("../../models/locks.toml")),
    ("signals.toml", include_str!("../../models/signals.toml")),
];

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{file}: {source}")]
    Toml {
        file: &'static str,
        #[source]
        source: toml::de::Error,
    },
    #[error("{file}: {class}.{method} is described twice")]
    Twice {
        file: &'static str,
        class: String,
        method: String,
    },
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Takes a lock.
    Acquire,
    /// Gives a lock up.
    Release,
    /// Lets others go on.
    Signal,
    /// Has waited for a signal.
    Await,
    /// Both: all who meet go on together.
    Meet,
    /// Waits for a condition, without its lock meanwhile.
    Wait,
    /// Wakes who waits for a condition.
    Notify,
    /// Reads what the object holds.
    Read,
    Write,
    /// Reads and writes in one step.
    Update,
}

impl Effect {
    /// Whether it is one on what an object holds.
    pub fn is_access(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Update)
    }
}

/// Which object the effect is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operand {
    #[default]
    Receiver,
    Arg0,
    /// What the call returns; only for what happens after it.
    Result,
    /// The first coordinate of a variable handle; the handle itself if it has none.
    Coordinate,
}

/// A row of the model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Method {
    classes: Vec<String>,
    names: Vec<String>,
    /// Overloads with exactly these parameters, such as `(Ljava/lang/Object;)`; otherwise all.
    #[serde(default)]
    parameters: Option<String>,
    pub effect: Effect,
    #[serde(default)]
    pub on: Operand,
    /// The effect takes place if the result is true, not zero or not null.
    #[serde(default)]
    pub if_result: bool,
    /// The number of the argument that is the key.
    #[serde(default)]
    pub key: Option<usize>,
    /// What is accessed instead of the content under a key or as a whole: something of which the object has one, such as a value.
    /// Its class stands before a last dot, if it is not the one that the call names.
    #[serde(default)]
    pub field: Option<String>,
    /// What the call accesses as well.
    #[serde(default)]
    pub also: Vec<Also>,
    /// What the call has read if it throws.
    #[serde(default)]
    pub thrown: Option<String>,
    /// The call neither blocks nor calls back, so that it can be one step with its record.
    #[serde(default)]
    pub step: bool,
    /// An update that has written only if its result says so: else it has read.
    #[serde(default)]
    pub writes: When,
    /// The content is synchronized by itself, as that of a volatile variable is.
    #[serde(default)]
    pub volatile: bool,
    /// The model is coarser than what the call does.
    #[serde(default)]
    pub approximate: bool,
    /// How many arguments of a variable handle's method follow the coordinates.
    #[serde(default)]
    pub values: usize,
}

/// An access that a call makes besides its main one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Also {
    /// As [`Method::field`].
    pub field: String,
    pub effect: Effect,
    #[serde(default)]
    pub when: When,
    #[serde(default)]
    pub approximate: bool,
    #[serde(default)]
    pub of: Of,
}

/// When a call makes an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    #[default]
    Always,
    /// The result is true, not zero or not null; or there is none.
    True,
    /// The result is false, zero or null.
    False,
    /// The first argument is the index 0.
    First,
}

/// Of which collections a call makes an access, as `UntornRuntime` numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    #[default]
    All,
    /// Approximate for those whose iterators may miss changes.
    Iterated,
    /// Those that are lists.
    Lists,
    /// Those that it has made larger or smaller; approximate where that is not known.
    Resized,
    /// The same where the result says that nothing was there, which is exact for those that hold no null.
    Added,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Names for several classes, to be used among those of a row.
    #[serde(default)]
    group: FxHashMap<String, Vec<String>>,
    method: Vec<Method>,
}

/// All rows.
#[derive(Debug, Clone)]
pub struct Models {
    methods: Vec<Method>,
    /// By class and name: the numbers of the rows.
    index: FxHashMap<String, FxHashMap<String, Vec<usize>>>,
}

impl Models {
    /// The model that comes with the agent.
    pub fn builtin() -> Result<Self, ModelError> {
        let mut models = Self {
            methods: Vec::new(),
            index: FxHashMap::default(),
        };
        for (file, text) in FILES {
            models.read(file, text)?;
        }
        Ok(models)
    }

    fn read(&mut self, file: &'static str, text: &str) -> Result<(), ModelError> {
        let parsed: File =
            toml::from_str(text).map_err(|source| ModelError::Toml { file, source })?;
        for mut method in parsed.method {
            let classes = std::mem::take(&mut method.classes);
            for class in classes {
                match parsed.group.get(&class) {
                    Some(group) => method.classes.extend_from_slice(group),
                    None => method.classes.push(class),
                }
            }
            let number = self.methods.len();
            for class in &method.classes {
                let names = self.index.entry(class.clone()).or_default();
                for name in &method.names {
                    let rows = names.entry(name.clone()).or_default();
                    // A call may pass something on and change what its receiver holds: a row for each.
                    let known = |&row: &usize| {
                        self.methods.get(row).is_none_or(|known| {
                            known.parameters == method.parameters
                                && known.effect.is_access() == method.effect.is_access()
                        })
                    };
                    if rows.iter().any(known) {
                        return Err(ModelError::Twice {
                            file,
                            class: class.clone(),
                            method: name.clone(),
                        });
                    }
                    rows.push(number);
                }
            }
            self.methods.push(method);
        }
        Ok(())
    }

    /// What a call accesses, by the class that it names.
    pub fn access(&self, called: &MemberRef<'_>) -> Option<&Method> {
        self.find(called, Effect::is_access)
    }

    /// What a call does to locks and to the order of threads.
    pub fn order(&self, called: &MemberRef<'_>) -> Option<&Method> {
        self.find(called, |effect| !effect.is_access())
    }

    fn find(&self, called: &MemberRef<'_>, wanted: fn(Effect) -> bool) -> Option<&Method> {
        let rows = self.index.get(&*called.class)?.get(&*called.name)?;
        let named = |parameters: &str| called.descriptor.starts_with(parameters);
        // A row for one overload is stronger than one for all.
        let rows = || {
            let rows = rows.iter().filter_map(|&row| self.methods.get(row));
            rows.filter(|row| wanted(row.effect))
        };
        rows()
            .find(|row| row.parameters.as_deref().is_some_and(named))
            .or_else(|| rows().find(|row| row.parameters.is_none()))
    }

    /// The classes and the names of each row.
    pub fn rows(&self) -> impl Iterator<Item = (&[String], &[String])> {
        self.methods
            .iter()
            .map(|row| (&row.classes[..], &row.names[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(class: &str, name: &str, descriptor: &str) -> Option<Method> {
        let called = MemberRef {
            class: class.into(),
            name: name.into(),
            descriptor: descriptor.into(),
            interface: false,
        };
        let models = Models::builtin().unwrap();
        (models.access(&called).or(models.order(&called))).cloned()
    }

    #[test]
    fn overloads_are_told_apart() {
        let latch = "java/util/concurrent/CountDownLatch";
        assert!(!find(latch, "await", "()V").unwrap().if_result);
        let timed = "(JLjava/util/concurrent/TimeUnit;)Z";
        assert!(find(latch, "await", timed).unwrap().if_result);
        assert_eq!(find(latch, "toString", "()Ljava/lang/String;"), None);
        assert_eq!(find("bank/Map", "put", "(II)V"), None);
    }

    #[test]
    fn a_call_may_change_a_queue_and_hand_something_over() {
        let models = Models::builtin().unwrap();
        let called = MemberRef {
            class: "java/util/concurrent/LinkedBlockingQueue".into(),
            name: "offer".into(),
            descriptor: "(Ljava/lang/Object;)Z".into(),
            interface: false,
        };
        assert_eq!(models.access(&called).unwrap().effect, Effect::Update);
        assert_eq!(models.order(&called).unwrap().effect, Effect::Signal);
    }

    #[test]
    fn a_row_that_repeats_another_is_refused() {
        let mut models = Models::builtin().unwrap();
        let text = r#"
            [[method]]
            classes = ["java/util/HashMap"]
            names = ["get"]
            effect = "read"
        "#;
        let error = models.read("more.toml", text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "more.toml: java/util/HashMap.get is described twice"
        );
    }
}
