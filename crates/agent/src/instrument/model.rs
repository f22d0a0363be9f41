//! What calls of methods that are not rewritten do, by the [library model](untorn_library::calls).

use rustc_hash::FxHashMap;
use untorn_classfile::read::MemberRef;
pub use untorn_library::calls::{Also, Call as Method, Effect, Subject as Operand, When};

/// All rows.
#[derive(Debug, Clone)]
pub struct Models {
    /// By class and name.
    index: FxHashMap<&'static str, FxHashMap<&'static str, Vec<&'static Method>>>,
}

impl Models {
    /// The model that comes with the agent.
    pub fn builtin() -> Self {
        let mut index: FxHashMap<_, FxHashMap<_, Vec<_>>> = FxHashMap::default();
        for row in untorn_library::calls::calls() {
            for class in row.classes {
                let names = index.entry(*class).or_default();
                for name in row.names {
                    names.entry(*name).or_default().push(row);
                }
            }
        }
        Self { index }
    }

    /// What a call accesses, by the class that it names.
    pub fn access(&self, called: &MemberRef<'_>) -> Option<&'static Method> {
        self.find(called, Effect::is_access)
    }

    /// What a call does to locks and to the order of threads.
    pub fn order(&self, called: &MemberRef<'_>) -> Option<&'static Method> {
        self.find(called, |effect| !effect.is_access())
    }

    fn find(&self, called: &MemberRef<'_>, wanted: fn(Effect) -> bool) -> Option<&'static Method> {
        let rows = self.index.get(&*called.class)?.get(&*called.name)?;
        // A row for one overload comes before one for all.
        let mut rows = rows.iter().filter(|row| wanted(row.effect));
        rows.find(|row| row.fits(&called.descriptor)).copied()
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
        let models = Models::builtin();
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
        let models = Models::builtin();
        let called = MemberRef {
            class: "java/util/concurrent/LinkedBlockingQueue".into(),
            name: "offer".into(),
            descriptor: "(Ljava/lang/Object;)Z".into(),
            interface: false,
        };
        assert_eq!(models.access(&called).unwrap().effect, Effect::Update);
        assert_eq!(models.order(&called).unwrap().effect, Effect::Signal);
    }
}
