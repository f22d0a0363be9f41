//! Abstract objects and contexts.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ids::{ClassId, FieldId, InstrId, MethodId, ObjectId, Symbol};

/// How many objects a heap context may nest: a map's table in a map in a set needs three.
const DEEPEST: u8 = 3;

/// In what context a method is analyzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// None: all calls together.
    None,
    /// For this receiver.
    Object(ObjectId),
    /// For this call site.
    Site(MethodId, InstrId),
}

/// What an abstract object stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Objects allocated by an instruction; the dimension tells the arrays of a `multianewarray` apart.
    Allocated {
        /// The allocating method.
        method: MethodId,
        /// The instruction.
        instr: InstrId,
        /// 0 for the outermost array and for plain objects.
        dimension: u8,
    },
    /// Lambdas and method references made by an instruction.
    Lambda {
        /// The method.
        method: MethodId,
        /// The instruction.
        instr: InstrId,
    },
    /// All instances of a class of values, or all exceptions of a class.
    Merged,
    /// All objects of a class that the program makes, wherever: where telling them apart costs too much.
    AnyOf,
    /// What a library method that is not entered returns.
    Returned(MethodId),
    /// What a static field of a library class that is not entered holds.
    Static(FieldId),
    /// The class object of this class.
    ClassObject(ClassId),
    /// A constructor of a class, or its methods of a name, as reflection gives it.
    Member {
        /// The class.
        class: ClassId,
        /// The name; `None` for a constructor.
        name: Option<Symbol>,
    },
    /// Library mode: the one instance of an analyzed class that all clients share.
    Instance,
    /// Library mode: something of this type that a client passes.
    Passed,
    /// The arguments of the main method.
    Arguments,
    /// Anything: what the analysis cannot follow.
    Unknown,
}

/// An abstract object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its class; for what library code returns and for lambdas, an interface or superclass of it.
    pub class: ClassId,
    /// What it stands for.
    pub kind: ObjectKind,
    /// The context it was allocated in.
    pub context: Context,
    pub(crate) depth: u8,
}

/// The table of abstract objects.
#[derive(Debug, Default)]
pub struct Objects {
    set: IndexSet<Object, FxBuildHasher>,
}

impl Objects {
    pub fn len(&self) -> usize {
        self.set.len()
    }

    pub fn get(&self, id: ObjectId) -> Object {
        self.set[id.index()]
    }

    /// The object of a class and kind in a context, and whether it is new.
    pub fn intern(
        &mut self,
        class: ClassId,
        kind: ObjectKind,
        context: Context,
    ) -> (ObjectId, bool) {
        let context = self.bounded(context);
        let depth = match context {
            Context::Object(object) => self.get(object).depth + 1,
            _ => 1,
        };
        let (index, new) = self.set.insert_full(Object {
            class,
            kind,
            context,
            depth,
        });
        (ObjectId::new(index), new)
    }

    /// The same context, with the middle left out where it nests too deep.
    fn bounded(&self, context: Context) -> Context {
        match context {
            Context::Object(object) if self.get(object).depth >= DEEPEST => {
                self.get(object).context
            }
            _ => context,
        }
    }

    pub fn into_vec(self) -> Vec<Object> {
        self.set.into_iter().collect()
    }
}
