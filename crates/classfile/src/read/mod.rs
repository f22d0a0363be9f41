//! Reading class files: nothing is copied, attributes are parsed when asked for.

mod annotations;
mod attributes;
mod class;
mod code;
pub(crate) mod cursor;
pub mod descriptor;
pub(crate) mod frames;
pub mod mutf8;
pub(crate) mod pool;
pub(crate) mod type_annotations;
pub(crate) mod vtype;

pub use annotations::{Annotation, ElementValue};
pub use attributes::{
    Attribute, Attributes, BootstrapMethod, EnclosingMethod, InnerClass, Parameter, RecordComponent,
};
pub use class::{Access, ClassFile, Field, Member, Method};
pub use code::{Code, ExceptionEntry, LineNumber, LocalVariable};
pub use descriptor::{FieldType, MethodType};
pub use frames::{FrameTable, FrameView};
pub use pool::{
    Constant, ConstantPool, Dynamic, Entry, HandleKind, MemberRef, MethodHandle, PoolIndex,
};
pub use vtype::{TypeName, VType};
