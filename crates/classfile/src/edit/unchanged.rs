//! The editor's own test: take every method apart, put it together, change nothing.

use crate::edit::class::ClassEditor;
use crate::edit::error::Result;
use crate::read::ClassFile;

/// Rewrites every method body without editing it.
///
/// The result equals the input byte for byte, unless the file has non-zero padding in a switch.
pub fn rewrite_unchanged(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut editor = ClassEditor::new(ClassFile::parse(bytes)?);
    for index in 0..editor.class().methods.len() {
        if let Some(method) = editor.method(index)? {
            editor.put(method)?;
        }
    }
    editor.finish()
}
