//! The tables of classes, fields and methods.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::link::Links;
use super::names::Names;
use crate::ids::{ClassId, FieldId, MethodId, Symbol};
use crate::load::Origin;

/// Access flags of a class, field or method, as in the class file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u16);

#[allow(missing_docs, reason = "each says whether the flag of its name is set")]
impl Flags {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const VOLATILE: u16 = 0x0040;
    pub const VARARGS: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const SYNTHETIC: u16 = 0x1000;

    pub fn is_public(self) -> bool {
        self.0 & Self::PUBLIC != 0
    }
    pub fn is_private(self) -> bool {
        self.0 & Self::PRIVATE != 0
    }
    pub fn is_protected(self) -> bool {
        self.0 & Self::PROTECTED != 0
    }
    pub fn is_static(self) -> bool {
        self.0 & Self::STATIC != 0
    }
    pub fn is_final(self) -> bool {
        self.0 & Self::FINAL != 0
    }
    pub fn is_synchronized(self) -> bool {
        self.0 & Self::SYNCHRONIZED != 0
    }
    pub fn is_volatile(self) -> bool {
        self.0 & Self::VOLATILE != 0
    }
    pub fn is_native(self) -> bool {
        self.0 & Self::NATIVE != 0
    }
    pub fn is_interface(self) -> bool {
        self.0 & Self::INTERFACE != 0
    }
    pub fn is_abstract(self) -> bool {
        self.0 & Self::ABSTRACT != 0
    }
    pub fn is_synthetic(self) -> bool {
        self.0 & Self::SYNTHETIC != 0
    }
}

/// What is known of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    /// Only its name was met; nothing needed more.
    Named,
    /// Its class file was read.
    Loaded,
    /// It was needed and is nowhere.
    Missing,
    /// An array; the component is `None` for a primitive one.
    Array(Option<ClassId>),
}

/// A class, interface or array type.
#[derive(Debug, Clone)]
pub struct Class {
    /// The internal name (`java/util/Map$Entry`), or an array's descriptor.
    pub name: Symbol,
    /// What is known of it.
    pub kind: ClassKind,
    /// Where it was found; `ClassPath` while it was not.
    pub origin: Origin,
    /// Access flags.
    pub flags: Flags,
    /// The superclass; `None` for Object, and for a class not loaded.
    pub superclass: Option<ClassId>,
    /// The interfaces it names itself.
    pub interfaces: Vec<ClassId>,
    /// Its fields, assumed ones of a missing class included.
    pub fields: Vec<FieldId>,
    /// Its methods, assumed ones of a missing class included.
    pub methods: Vec<MethodId>,
    /// Whether it declares type parameters.
    pub generic: bool,
    /// Whether code outside its source file can name it: not anonymous, local, private or synthetic.
    pub nameable: bool,
    /// The name of its source file.
    pub source_file: Option<Symbol>,
    /// Where its class file was.
    pub place: PathBuf,
    /// Its class file; empty if it has none.
    pub bytes: Arc<[u8]>,
    /// Itself and all its supertypes, sorted.
    pub(crate) ancestors: Box<[ClassId]>,
    /// What its constant pool means; set when one of its methods is first needed.
    pub(crate) links: Option<Arc<Links>>,
}

/// A field.
#[derive(Debug, Clone)]
pub struct Field {
    /// The class that declares it.
    pub class: ClassId,
    /// Its name.
    pub name: Symbol,
    /// Its descriptor.
    pub descriptor: Symbol,
    /// Its access flags.
    pub flags: Flags,
    /// Its type.
    pub ty: Type,
    /// Whether it was only assumed, since no class file declares it.
    pub missing: bool,
}

/// A method.
#[derive(Debug, Clone)]
pub struct Method {
    /// The class that declares it.
    pub class: ClassId,
    /// Its name.
    pub name: Symbol,
    /// Its descriptor.
    pub descriptor: Symbol,
    /// Its access flags.
    pub flags: Flags,
    /// The parameters without the receiver.
    pub params: Box<[Type]>,
    /// What it returns; `None` is void.
    pub returns: Option<Type>,
    /// Whether its class file has code for it.
    pub has_code: bool,
    /// Whether it was only assumed, since no class file declares it.
    pub missing: bool,
    /// Its position in the class file.
    pub(crate) position: u32,
}

/// The type of a value, as the operand stack tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// `int` and what the JVM treats as one: boolean, byte, char, short.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A reference to this class, interface or array, or null.
    Ref(ClassId),
    /// The null reference.
    Null,
    /// The return address of a subroutine, in class files before Java 7.
    Address,
}

impl Type {
    /// Whether values of this type take two slots.
    pub fn is_wide(self) -> bool {
        matches!(self, Type::Long | Type::Double)
    }

    /// The class of a reference type.
    pub fn class(self) -> Option<ClassId> {
        if let Type::Ref(class) = self {
            Some(class)
        } else {
            None
        }
    }

    /// Whether this is a reference, null included.
    pub fn is_reference(self) -> bool {
        matches!(self, Type::Ref(_) | Type::Null)
    }
}

/// Classes that instructions mean without naming them.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "each is the class of its name")]
pub struct WellKnown {
    pub object: ClassId,
    pub string: ClassId,
    pub class: ClassId,
    pub throwable: ClassId,
    pub method_handle: ClassId,
    pub method_type: ClassId,
    /// Arrays of primitives, in the order of the operand of `newarray` from `boolean` on.
    pub primitive_arrays: [ClassId; 8],
}

/// All classes, fields and methods met so far.
#[derive(Debug)]
pub struct Classes {
    /// Classes that instructions mean without naming them.
    pub well_known: WellKnown,
    /// Names and descriptors.
    pub names: Names,
    pub(crate) table: Vec<Class>,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<Method>,
    pub(crate) by_name: FxHashMap<Symbol, ClassId>,
    pub(crate) field_index: FxHashMap<(ClassId, Symbol, Symbol), FieldId>,
    pub(crate) method_index: FxHashMap<(ClassId, Symbol, Symbol), MethodId>,
}

impl Classes {
    /// Empty tables.
    pub(crate) fn new() -> Self {
        let none = ClassId(0);
        let mut classes = Self {
            well_known: WellKnown {
                object: none,
                string: none,
                class: none,
                throwable: none,
                method_handle: none,
                method_type: none,
                primitive_arrays: [none; 8],
            },
            names: Names::default(),
            table: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            by_name: FxHashMap::default(),
            field_index: FxHashMap::default(),
            method_index: FxHashMap::default(),
        };
        classes.well_known = WellKnown {
            object: classes.intern_class("java/lang/Object"),
            string: classes.intern_class("java/lang/String"),
            class: classes.intern_class("java/lang/Class"),
            throwable: classes.intern_class("java/lang/Throwable"),
            method_handle: classes.intern_class("java/lang/invoke/MethodHandle"),
            method_type: classes.intern_class("java/lang/invoke/MethodType"),
            primitive_arrays: ["[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"]
                .map(|name| classes.intern_class(name)),
        };
        classes
    }

    /// A class by its id.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.table[id.index()]
    }

    /// A field by its id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// A method by its id.
    pub fn method(&self, id: MethodId) -> &Method {
        &self.methods[id.index()]
    }

    /// All classes met, in the order they were met.
    pub fn class_ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.table.len()).map(ClassId::new)
    }

    /// How many methods were met.
    pub fn method_count(&self) -> usize {
        self.methods.len()
    }

    /// How many fields were met.
    pub fn field_count(&self) -> usize {
        self.fields.len()
    }

    /// A class by its internal name, if it was met.
    pub fn find(&self, internal: &str) -> Option<ClassId> {
        self.by_name.get(&self.names.find(internal)?).copied()
    }

    /// The method a class itself declares.
    pub fn declared_method(
        &self,
        class: ClassId,
        name: &str,
        descriptor: &str,
    ) -> Option<MethodId> {
        let key = (class, self.names.find(name)?, self.names.find(descriptor)?);
        self.method_index.get(&key).copied()
    }

    /// The field a class itself declares, by name alone.
    pub fn declared_field(&self, class: ClassId, name: &str) -> Option<FieldId> {
        let symbol = self.names.find(name)?;
        self.class(class)
            .fields
            .iter()
            .copied()
            .find(|field| self.field(*field).name == symbol)
    }

    /// The methods a class declares under a name.
    pub fn methods_named<'a>(
        &'a self,
        class: ClassId,
        name: &str,
    ) -> impl Iterator<Item = MethodId> + 'a {
        let symbol = self.names.find(name);
        self.class(class)
            .methods
            .iter()
            .copied()
            .filter(move |method| Some(self.method(*method).name) == symbol)
    }

    /// The internal name of a class.
    pub fn class_name(&self, id: ClassId) -> &str {
        self.names.name(self.class(id).name)
    }

    /// The name of a method.
    pub fn method_name(&self, id: MethodId) -> &str {
        self.names.name(self.method(id).name)
    }

    /// The descriptor of a method.
    pub fn method_descriptor(&self, id: MethodId) -> &str {
        self.names.name(self.method(id).descriptor)
    }

    /// The name of a field.
    pub fn field_name(&self, id: FieldId) -> &str {
        self.names.name(self.field(id).name)
    }

    /// `p/C.name(descriptor)`, as messages name a method.
    pub fn describe_method(&self, id: MethodId) -> String {
        let class = self.class_name(self.method(id).class);
        format!(
            "{class}.{}{}",
            self.method_name(id),
            self.method_descriptor(id)
        )
    }

    /// `p/C.name`, as messages name a field.
    pub fn describe_field(&self, id: FieldId) -> String {
        format!(
            "{}.{}",
            self.class_name(self.field(id).class),
            self.field_name(id)
        )
    }

    /// Whether a method is a constructor.
    pub fn is_constructor(&self, id: MethodId) -> bool {
        self.method_name(id) == "<init>"
    }

    /// Whether a method is a class initializer.
    pub fn is_class_initializer(&self, id: MethodId) -> bool {
        self.method_name(id) == "<clinit>"
    }

    /// Whether clients may call a method: not private, not synthetic, no class initializer.
    pub fn is_exported(&self, id: MethodId) -> bool {
        let flags = self.method(id).flags;
        !flags.is_private() && !flags.is_synthetic() && !self.is_class_initializer(id)
    }

    /// The package of a class, as a prefix of its internal name.
    pub fn package(&self, id: ClassId) -> &str {
        self.class_name(id)
            .rsplit_once('/')
            .map_or("", |(package, _)| package)
    }

    /// The id of a class by its internal name or array descriptor, new if it was not met before.
    pub(crate) fn intern_class(&mut self, name: &str) -> ClassId {
        let symbol = self.names.intern(name);
        if let Some(id) = self.by_name.get(&symbol) {
            return *id;
        }
        let kind = if let Some(component) = name.strip_prefix('[') {
            // The nesting of arrays is bounded by the descriptor grammar, so this recursion is too.
            ClassKind::Array(self.reference_class(component))
        } else {
            ClassKind::Named
        };
        let id = ClassId::new(self.table.len());
        self.by_name.insert(symbol, id);
        self.table.push(Class {
            name: symbol,
            kind,
            origin: Origin::ClassPath,
            flags: Flags::default(),
            superclass: None,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            generic: false,
            nameable: true,
            source_file: None,
            place: PathBuf::new(),
            bytes: Arc::from([]),
            ancestors: Box::from([id]),
            links: None,
        });
        id
    }

    pub(crate) fn add_field(&mut self, field: Field) -> FieldId {
        let id = FieldId::new(self.fields.len());
        // A second field of one name and type is malformed; the first stands.
        self.field_index
            .entry((field.class, field.name, field.descriptor))
            .or_insert(id);
        self.table[field.class.index()].fields.push(id);
        self.fields.push(field);
        id
    }

    pub(crate) fn add_method(&mut self, method: Method) -> MethodId {
        let id = MethodId::new(self.methods.len());
        self.method_index
            .entry((method.class, method.name, method.descriptor))
            .or_insert(id);
        self.table[method.class.index()].methods.push(id);
        self.methods.push(method);
        id
    }
}
