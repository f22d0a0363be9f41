//! What library methods do as steps: `models/*.toml`, whose words are in `models/README.md`.
//!
//! A method without a model is compound and keeps its arguments, which is the worst that disciplined code can do.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use untorn_program::classes::Classes;
use untorn_program::load::Origin;
use untorn_program::{ClassId, MethodId};

use crate::basic::Basic;

const FILES: [(&str, &str); 7] = [
    ("values.toml", include_str!("../../models/values.toml")),
    ("arrays.toml", include_str!("../../models/arrays.toml")),
    (
        "collections.toml",
        include_str!("../../models/collections.toml"),
    ),
    (
        "concurrent.toml",
        include_str!("../../models/concurrent.toml"),
    ),
    (
        "synchronized.toml",
        include_str!("../../models/synchronized.toml"),
    ),
    ("text.toml", include_str!("../../models/text.toml")),
    (
        "exceptions.toml",
        include_str!("../../models/exceptions.toml"),
    ),
];

/// A model file that does not say what it should.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the model file {file}: {reason}")]
pub struct BadModel {
    /// The file.
    pub file: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

/// The receiver or an argument, the receiver not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The receiver.
    Receiver,
    /// An argument.
    Arg(usize),
}

/// What a library method does.
#[derive(Debug, Clone)]
pub struct Model {
    descriptor: Option<String>,
    /// As a step, its accesses to the operands aside.
    pub is: Basic,
    /// Whose elements or content it reads, and nothing else of them.
    pub reads: Vec<Operand>,
    /// It reads what it is given, unless it says that it writes it.
    pub reads_all: bool,
    /// Whose elements or content it writes.
    pub writes: Vec<Operand>,
    /// Its result is new and nobody else knows it.
    pub fresh: bool,
    /// Its result is another face of the receiver.
    pub view: bool,
    /// Whose `equals`, `hashCode`, `compareTo` or `toString` it may call.
    pub calls: Vec<Operand>,
    /// It may keep its arguments.
    pub keeps: bool,
    /// Methods that it calls on its operands, any number of times; they take no references and give none but strings.
    pub asks: Vec<Question>,
    /// It calls nothing of its receiver that a subclass may have overridden.
    pub alone: bool,
    /// It holds only for receivers that order what they hold by nature, not by somebody's comparator.
    pub natural: bool,
    /// Operands that must be collections of the platform without locks and without anybody's code.
    pub plain: Vec<Operand>,
    /// Operands that are functions, which it runs any number of times.
    pub applies: Vec<Operand>,
    /// It touches nothing that changes as long as nobody else knows its receiver.
    pub own: bool,
    /// Methods of other classes that it may run, as class and name (`*` for all): it holds only where nobody overrides them.
    pub runs: Vec<(String, String)>,
}

/// A method that a library method calls on one of its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// On which one.
    pub operand: Operand,
    /// The class that declares the method.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    method: Vec<Entry>,
    #[serde(default)]
    field: Vec<FieldEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldEntry {
    class: String,
    name: String,
    frozen: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    class: String,
    names: Vec<String>,
    descriptor: Option<String>,
    is: String,
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    fresh: bool,
    #[serde(default)]
    view: bool,
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    keeps: bool,
    #[serde(default)]
    asks: Vec<String>,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    natural: bool,
    #[serde(default)]
    plain: Vec<String>,
    #[serde(default)]
    applies: Vec<String>,
    #[serde(default)]
    own: bool,
    #[serde(default)]
    runs: Vec<String>,
}

/// All models, by class and name.
#[derive(Debug, Default)]
pub struct Models {
    methods: FxHashMap<String, Vec<Model>>,
    frozen: FxHashSet<(String, String)>,
}

impl Models {
    /// The models that come with the crate.
    pub fn embedded() -> Result<&'static Models, BadModel> {
        static EMBEDDED: OnceLock<Result<Models, BadModel>> = OnceLock::new();
        EMBEDDED
            .get_or_init(Models::read)
            .as_ref()
            .map_err(Clone::clone)
    }

    fn read() -> Result<Models, BadModel> {
        let mut models = Models::default();
        for (file, text) in FILES {
            let bad = |reason: String| BadModel { file, reason };
            let parsed: File = toml::from_str(text).map_err(|e| bad(e.to_string()))?;
            for field in parsed.field.into_iter().filter(|field| field.frozen) {
                models.frozen.insert((field.class, field.name));
            }
            for entry in parsed.method {
                let is = Basic::from_name(&entry.is)
                    .ok_or_else(|| bad(format!("{} is no atomicity", entry.is)))?;
                let operands = |list: &[String]| {
                    list.iter()
                        .filter(|text| *text != ALL)
                        .map(|text| {
                            operand(text).ok_or_else(|| bad(format!("{text} is no operand")))
                        })
                        .collect::<Result<Vec<_>, _>>()
                };
                let asks = entry.asks.iter().map(|text| {
                    question(text).ok_or_else(|| bad(format!("{text} is no question")))
                });
                let runs = entry.runs.iter().map(|text| {
                    let (class, name) = text
                        .rsplit_once('.')
                        .ok_or_else(|| bad(format!("{text} is no method")))?;
                    Ok((class.to_owned(), name.to_owned()))
                });
                let model = Model {
                    natural: entry.natural,
                    plain: operands(&entry.plain)?,
                    applies: operands(&entry.applies)?,
                    own: entry.own,
                    runs: runs.collect::<Result<Vec<_>, BadModel>>()?,
                    asks: asks.collect::<Result<Vec<_>, _>>()?,
                    descriptor: entry.descriptor.clone(),
                    is,
                    reads: operands(&entry.reads)?,
                    reads_all: entry.reads.iter().any(|text| text == ALL),
                    writes: operands(&entry.writes)?,
                    fresh: entry.fresh,
                    view: entry.view,
                    calls: operands(&entry.calls)?,
                    keeps: entry.keeps,
                    alone: entry.alone,
                };
                for name in &entry.names {
                    let key = format!("{}.{name}", entry.class);
                    models.methods.entry(key).or_default().push(model.clone());
                }
            }
        }
        Ok(models)
    }

    /// Whether the elements of what a field holds never change once it holds it.
    pub fn is_frozen(&self, class: &str, name: &str) -> bool {
        !self.frozen.is_empty() && self.frozen.contains(&(class.to_owned(), name.to_owned()))
    }

    /// The model of a library method: that of its class or of the nearest supertype that has one.
    pub fn find(&self, classes: &Classes, method: MethodId) -> Option<&Model> {
        let class = classes.method(method).class;
        let name = classes.method_name(method);
        let descriptor = classes.method_descriptor(method);
        let at = |class| {
            let class = classes.class_name(class);
            [name, "*"].into_iter().find_map(|name| {
                let models = self.methods.get(&format!("{class}.{name}"))?;
                models.iter().find(|model| {
                    model
                        .descriptor
                        .as_deref()
                        .is_none_or(|own| own == descriptor)
                })
            })
        };
        // A constructor is never inherited, and what other libraries override is theirs.
        if name == "<init>" || !is_of_platform(classes, class) {
            return at(class);
        }
        let above = classes.superclasses(class).find_map(at);
        above.or_else(|| classes.supertypes(class).iter().find_map(|c| at(*c)))
    }
}

/// Whether a class is of the platform, be it analyzed as an input or not.
pub fn is_of_platform(classes: &Classes, class: ClassId) -> bool {
    let name = classes.class_name(class);
    classes.class(class).origin == Origin::Jdk
        || ["java/", "javax/", "jdk/", "sun/"]
            .iter()
            .any(|package| name.starts_with(package))
}

/// In `reads`: every argument.
const ALL: &str = "all";

fn operand(text: &str) -> Option<Operand> {
    Some(match text {
        "receiver" => Operand::Receiver,
        argument => Operand::Arg(argument.strip_prefix("arg")?.parse().ok()?),
    })
}

/// `arg0.java/lang/CharSequence.length()I`
fn question(text: &str) -> Option<Question> {
    let (on, method) = text.split_once('.')?;
    let (class, method) = method.split_once('.')?;
    let at = method.find('(')?;
    let (name, descriptor) = method.split_at(at);
    let (taken, given) = descriptor.split_once(')')?;
    let plain = !taken.contains(['L', '['])
        && (given == "Ljava/lang/String;" || !given.contains(['L', '[']));
    plain.then_some(Question {
        operand: operand(on)?,
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    })
}

/// Classes whose `equals`, `hashCode`, `compareTo` and `toString` touch nothing that changes.
pub fn is_value_class(class: &str) -> bool {
    matches!(
        class,
        "java/lang/String"
            | "java/lang/Integer"
            | "java/lang/Long"
            | "java/lang/Short"
            | "java/lang/Byte"
            | "java/lang/Character"
            | "java/lang/Boolean"
            | "java/lang/Float"
            | "java/lang/Double"
            | "java/lang/Class"
            | "java/util/UUID"
    )
}

impl Models {
    /// Every class with the names and descriptors that are described, `*` for all names.
    pub fn described(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        self.methods.iter().flat_map(|(key, models)| {
            let (class, name) = key.rsplit_once('.').unwrap_or((key, ""));
            (models.iter()).map(move |model| (class, name, model.descriptor.as_deref()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Models, Operand, question};

    #[test]
    fn a_question_names_whom_and_what_and_passes_no_reference() {
        let asked = question("arg0.java/lang/CharSequence.charAt(I)C").unwrap();
        assert_eq!(asked.operand, Operand::Arg(0));
        assert_eq!(asked.class, "java/lang/CharSequence");
        assert_eq!((&*asked.name, &*asked.descriptor), ("charAt", "(I)C"));
        assert_eq!(
            question("arg0.java/util/Comparator.compare(Ljava/lang/Object;)I"),
            None
        );
        assert_eq!(question("arg0.length"), None);
    }

    #[test]
    fn the_embedded_models_parse() {
        let models = Models::embedded().unwrap();
        assert!(models.methods.contains_key("java/lang/System.arraycopy"));
        assert!(models.methods.contains_key("java/lang/Object.<init>"));
    }
}
