//! Methods that the platform calls when it writes objects to streams and reads them back, though no call names them and they may be private.

use super::table::Classes;
use crate::ids::MethodId;

impl Classes {
    /// Whether serialization calls the method.
    pub fn is_serialization_hook(&self, method: MethodId) -> bool {
        let hook = matches!(
            (self.method_name(method), self.method_descriptor(method)),
            ("writeObject", "(Ljava/io/ObjectOutputStream;)V")
                | ("readObject", "(Ljava/io/ObjectInputStream;)V")
                | ("readObjectNoData", "()V")
                | ("writeReplace" | "readResolve", "()Ljava/lang/Object;")
        );
        hook && !self.method(method).flags.is_static() && self.is_serializable(method)
    }

    /// Whether nobody but the caller knows the receiver when the method begins: a constructor, or what fills an object that is read.
    pub fn begins_with_new_receiver(&self, method: MethodId) -> bool {
        self.is_constructor(method)
            || matches!(self.method_name(method), "readObject" | "readObjectNoData")
                && self.is_serialization_hook(method)
    }

    fn is_serializable(&self, method: MethodId) -> bool {
        let serializable = self.find("java/io/Serializable");
        serializable.is_some_and(|above| self.is_subtype(self.method(method).class, above))
    }
}
