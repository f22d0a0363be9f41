//! How much stack the methods of `UntornStack` make sure of: as much as their frames take.
//!
//! What they are for was measured by [a test](../../tests/depths.rs) that enters critical sections at every depth of the stack.

use untorn_classfile::read::VType;
use untorn_classfile::{ClassEditor, ClassFile, EditError};

/// With slashes.
pub const CLASS: &str = "java/lang/UntornStack";

const SLOT: u32 = 8;
const KILOBYTE: u32 = 1024;

/// A slow path is some ten frames of the runtime; what gives something up may come to one, and is some ten frames of the platform; what takes something has room for what gives it up.
const SIZES: [(&str, u32); 3] = [
    ("forSlowPath", 8 * KILOBYTE),
    ("forGiving", 12 * KILOBYTE),
    ("forTaking", 16 * KILOBYTE),
];

/// The class with frames of these sizes.
pub fn enlarge(bytes: &[u8]) -> Result<Vec<u8>, EditError> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    for index in 0..editor.class().methods.len() {
        let name = &editor.class().methods[index].name;
        let Some(&(_, size)) = SIZES.iter().find(|(of, _)| **of == **name) else {
            continue;
        };
        let Some(mut body) = editor.method(index)? else {
            continue;
        };
        for _ in 0..size / SLOT {
            body.new_local(VType::Integer)?;
        }
        editor.put(body)?;
    }
    editor.finish()
}
