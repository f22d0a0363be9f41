//! Library objects without locks of their own whose content is state of whoever refers to them: collections, builders, calendars.
//!
//! Paper: Figure 4, where the latch `closed` and the entries of the map `entries` belong together.
//! Views are divided by the class of the fields, so what such an object holds would be in no view together with the fields of its owner: here it is a variable of the owner's class, like a field.
//! Only calls on what a field refers to count, and only where all that the field may hold is of classes without locks.

use untorn_program::heap::{Heap, ObjectKind};
use untorn_program::ir::{Body, Def, Op};
use untorn_program::{FieldId, MethodId, NodeId, Program, ValueId};

/// Fields that may hold more objects than these are not looked into.
const MOST_OBJECTS: usize = 16;

/// Beginnings of the names of methods that only read; all others may write.
const READING: [&str; 36] = [
    "after",
    "before",
    "capacity",
    "ceiling",
    "charAt",
    "codePoint",
    "compareTo",
    "contains",
    "descending",
    "element",
    "entrySet",
    "equals",
    "first",
    "floor",
    "forEach",
    "get",
    "hashCode",
    "headMap",
    "headSet",
    "higher",
    "indexOf",
    "isEmpty",
    "iterator",
    "keySet",
    "last",
    "length",
    "listIterator",
    "lower",
    "navigable",
    "peek",
    "size",
    "stream",
    "sub",
    "tail",
    "toArray",
    "values",
];

/// What a call does to the object that a field refers to.
#[derive(Debug, Clone, Copy)]
pub struct Plain {
    /// Whose field.
    pub owner: ValueId,
    /// The field.
    pub field: FieldId,
    /// Whether it may change the object.
    pub writes: bool,
}

/// The content that a call is about, if its receiver is what a field refers to.
pub fn content(program: &Program, node: NodeId, body: &Body, op: &Op) -> Option<Plain> {
    let Op::Invoke { method, args, .. } = op else {
        return None;
    };
    let receiver = *args.first()?;
    let (owner, field) = field_of(body, receiver)?;
    if program.is_input(program.classes().method(*method).class) {
        return None;
    }
    let objects = program.heap().points_to(node, receiver);
    let plain = !objects.is_empty()
        && objects.len() <= MOST_OBJECTS
        && (objects.iter()).all(|object| is_plain(program, program.heap(), object));
    plain.then(|| Plain {
        owner,
        field,
        writes: writes(program, *method),
    })
}

/// The field that a value was just read from, and of which object.
pub fn field_of(body: &Body, value: ValueId) -> Option<(ValueId, FieldId)> {
    let mut at = value;
    loop {
        let Def::Instr(instr) = body.value(at).def else {
            return None;
        };
        match &body.instr(instr).op {
            Op::Cast { value, .. } => at = *value,
            Op::GetField { object, field } => return Some((*object, *field)),
            _ => return None,
        }
    }
}

fn is_plain(program: &Program, heap: &Heap, object: untorn_program::ObjectId) -> bool {
    let object = heap.object(object);
    object.kind != ObjectKind::Unknown
        && (program.library().scope()).is_unlocked(program.classes().class_name(object.class))
}

/// Whether a method of a collection may change it, by its name.
pub fn writes(program: &Program, method: MethodId) -> bool {
    let name = program.classes().method_name(method);
    let reads = name == "toString"
        || name == "clone"
        || READING
            .iter()
            .any(|reading| name.starts_with(reading) && !name.starts_with("getAnd"));
    !reads
}
