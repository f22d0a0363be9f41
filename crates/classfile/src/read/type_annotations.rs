//! Type annotations (JVMS 4.7.20) as far as editing code needs them: where they hold code offsets.

use crate::error::{ErrorKind, Result};
use crate::read::cursor::Cursor;

const MAX_DEPTH: u8 = 64;

/// What a place in a `Runtime(In)visibleTypeAnnotations` attribute of a body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePlace {
    /// Start and length of a local variable's life: two `u16`.
    Range,
    /// The offset of an instruction: one `u16`.
    Offset,
}

/// Calls `place` with the position in the attribute of everything that is a code offset.
pub(crate) fn code_places(
    mut cursor: Cursor<'_>,
    mut place: impl FnMut(usize, CodePlace),
) -> Result<()> {
    for _ in 0..cursor.u16()? {
        let target = cursor.u8()?;
        match target {
            0x00 | 0x01 | 0x16 => {
                cursor.bytes(1)?;
            }
            0x10 | 0x11 | 0x12 | 0x17 | 0x42 => {
                cursor.bytes(2)?;
            }
            0x13..=0x15 => {}
            0x40 | 0x41 => {
                for _ in 0..cursor.u16()? {
                    place(cursor.position(), CodePlace::Range);
                    cursor.bytes(6)?;
                }
            }
            0x43..=0x46 => {
                place(cursor.position(), CodePlace::Offset);
                cursor.bytes(2)?;
            }
            0x47..=0x4b => {
                place(cursor.position(), CodePlace::Offset);
                cursor.bytes(3)?;
            }
            _ => return cursor.fail(ErrorKind::AnnotationTarget(target)),
        }
        let path = cursor.u8()?;
        cursor.bytes(2 * path as usize)?;
        skip_annotation(&mut cursor, 0)?;
    }
    cursor.finish()
}

fn skip_annotation(cursor: &mut Cursor<'_>, depth: u8) -> Result<()> {
    cursor.u16()?;
    for _ in 0..cursor.u16()? {
        cursor.u16()?;
        skip_element(cursor, depth)?;
    }
    Ok(())
}

fn skip_element(cursor: &mut Cursor<'_>, depth: u8) -> Result<()> {
    if depth >= MAX_DEPTH {
        return cursor.fail(ErrorKind::NestingTooDeep);
    }
    let tag = cursor.u8()?;
    match tag {
        b'e' => cursor.bytes(4).map(|_| ()),
        b'@' => skip_annotation(cursor, depth + 1),
        b'[' => {
            for _ in 0..cursor.u16()? {
                skip_element(cursor, depth + 1)?;
            }
            Ok(())
        }
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => {
            cursor.bytes(2).map(|_| ())
        }
        _ => cursor.fail(ErrorKind::AnnotationTag(tag)),
    }
}
