//! Dense ids: every table of the program model is a vector, and its index has its own type.

macro_rules! dense_ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the entry at `index` of its table.
            pub fn new(index: usize) -> Self {
                Self(index as u32)
            }

            /// The index in the table this id belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

dense_ids! {
    /// An interned name or descriptor.
    Symbol;
    /// A class, interface or array type, loaded or missing.
    ClassId;
    /// A field, declared by a loaded class or assumed on a missing one.
    FieldId;
    /// A method, declared by a loaded class or assumed on a missing one.
    MethodId;
    /// An SSA value of one body.
    ValueId;
    /// A basic block of one body.
    BlockId;
    /// An instruction of one body, dense in block order.
    InstrId;
    /// An abstract object of the points-to analysis.
    ObjectId;
    /// A method in a calling context: a node of the call graph.
    NodeId;
    /// An abstract thread.
    ThreadId;
    /// A monitor or explicit-lock region of one body.
    RegionId;
}
