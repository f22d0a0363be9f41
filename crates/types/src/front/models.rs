//! What library methods do as steps, by the [library model](untorn_library::steps).
//!
//! A method without a model is compound and keeps its arguments, which is the worst that disciplined code can do.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use untorn_library::scope::scope;
pub use untorn_library::steps::{Operand, Steps as Model};
use untorn_library::steps::{Step, frozen, steps};
use untorn_program::classes::Classes;
use untorn_program::load::Origin;
use untorn_program::{ClassId, MethodId};

use crate::basic::Basic;

impl From<Step> for Basic {
    fn from(step: Step) -> Basic {
        match step {
            Step::Const => Basic::Const,
            Step::Mover => Basic::Mover,
            Step::Atomic => Basic::Atomic,
            Step::Compound => Basic::Cmpd,
        }
    }
}

/// All models, by class and name.
#[derive(Debug)]
pub struct Models {
    methods: FxHashMap<(&'static str, &'static str), Vec<&'static Model>>,
}

impl Models {
    /// The models that come with the program.
    pub fn embedded() -> &'static Models {
        static EMBEDDED: OnceLock<Models> = OnceLock::new();
        EMBEDDED.get_or_init(|| {
            let mut methods: FxHashMap<_, Vec<_>> = FxHashMap::default();
            for model in steps() {
                for class in model.classes {
                    for name in model.names {
                        methods.entry((*class, *name)).or_default().push(model);
                    }
                }
            }
            Models { methods }
        })
    }

    /// Whether the elements of what a field holds never change once it holds it.
    pub fn is_frozen(&self, class: &str, name: &str) -> bool {
        frozen().contains(&(class, name))
    }

    /// The model of a library method: that of its class or of the nearest supertype that has one.
    pub fn find(&self, classes: &Classes, method: MethodId) -> Option<&'static Model> {
        let class = classes.method(method).class;
        let name = classes.method_name(method);
        let descriptor = classes.method_descriptor(method);
        let at = |class| {
            let class = classes.class_name(class);
            [name, "*"].into_iter().find_map(|name| {
                let models = self.methods.get(&(class, name))?;
                models.iter().copied().find(|model| model.fits(descriptor))
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

/// Classes whose `equals`, `hashCode`, `compareTo` and `toString` touch nothing that changes.
pub fn is_value_class(class: &str) -> bool {
    scope().values.contains(&class)
}
