//! Writes an edited body as a `Code` attribute (JVMS 4.7.3), every table moved along.

use crate::edit::error::{EditError, Result};
use crate::edit::flatten::Flat;
use crate::edit::layout::Layout;
use crate::edit::method::{Handler, MethodEditor};
use crate::edit::pool::Pool;
use crate::edit::simulate::{self, Simulation};
use crate::read::frames::{FrameShape, FrameStyle, FrameView};
use crate::read::type_annotations::{CodePlace, code_places};
use crate::read::{Attribute, FrameTable, PoolIndex, VType};

/// Where the parts of an edited body lie.
struct Body<'m, 'a> {
    method: &'m MethodEditor<'a>,
    flat: Flat<'m>,
    layout: Layout,
}

/// The contents of the `Code` attribute of an edited method.
pub(crate) fn write(method: &mut MethodEditor<'_>, pool: &mut Pool<'_>) -> Result<Vec<u8>> {
    method.infer(pool)?;
    let method = &*method;
    let flat = Flat::new(method)?;
    let layout = Layout::new(&flat)?;
    let simulation = simulate::run(method, &flat, &layout, pool)?;
    Body {
        method,
        flat,
        layout,
    }
    .write(&simulation, pool)
}

impl Body<'_, '_> {
    fn write(&self, simulation: &Simulation, pool: &mut Pool<'_>) -> Result<Vec<u8>> {
        let method = self.method;
        let length = self.layout.length();
        let mut out = Vec::with_capacity(length as usize * 3 / 2 + 64);
        let max_stack = simulation.max_stack.max(method.code.max_stack as usize);
        out.extend(short(max_stack, "stack slots")?);
        out.extend(short(method.max_locals as usize, "local variables")?);
        out.extend(length.to_be_bytes());
        self.layout.encode(&self.flat, &mut out)?;
        self.write_exceptions(&mut out)?;
        self.write_attributes(&simulation.frames, pool, &mut out)?;
        Ok(out)
    }

    fn write_exceptions(&self, out: &mut Vec<u8>) -> Result<()> {
        let method = self.method;
        let start = out.len();
        out.extend([0, 0]);
        let mut count = 0;
        for handler in method.handlers.iter().filter(|handler| handler.innermost) {
            count += self.write_handler(handler, out)?;
        }
        for entry in &method.code.exceptions {
            let place = |places: &[u32], offset: u32| {
                places
                    .get(method.index_at(offset))
                    .map_or(0, |&at| self.layout.offsets[at as usize])
            };
            put(out, place(&self.flat.boundaries, entry.start));
            put(out, place(&self.flat.boundaries, entry.end));
            put(out, place(&self.flat.targets, entry.handler));
            put(out, entry.catch_type.0.into());
            count += 1;
        }
        for handler in method.handlers.iter().filter(|handler| !handler.innermost) {
            count += self.write_handler(handler, out)?;
        }
        out[start..start + 2].copy_from_slice(&short(count, "exception ranges")?);
        Ok(())
    }

    /// Writes a new range; says how many entries it took: none if it is empty.
    fn write_handler(&self, handler: &Handler, out: &mut Vec<u8>) -> Result<usize> {
        let offset = |label| {
            self.flat
                .position(label)
                .map(|position| self.layout.offsets[position as usize])
        };
        let (start, end) = (offset(handler.start)?, offset(handler.end)?);
        let target = offset(handler.target)?;
        if start >= end {
            return Ok(0);
        }
        for part in [start, end, target, handler.catch_type.0.into()] {
            put(out, part);
        }
        Ok(1)
    }

    fn write_attributes(
        &self,
        frames: &FrameTable,
        pool: &mut Pool<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        out.extend([0, 0]);
        let mut count = 0;
        let mut frames_due = frames.len() > 1;
        for attribute in self.method.code.attributes.iter() {
            match attribute.name {
                b"StackMapTable" if self.method.framed => {
                    frames_due = false;
                    attribute_with(attribute.name_index, out, |out| {
                        self.write_frames(frames, pool, out)
                    })?;
                }
                b"LineNumberTable" => self.moved(attribute, 4, &[Column::Start], out)?,
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    self.moved(attribute, 10, &[Column::Start, Column::Length], out)?;
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    self.moved_annotations(attribute, out)?;
                }
                // Nobody can say which bytes of an unknown attribute are offsets.
                _ if self.method.is_edited() => continue,
                _ => attribute_with(attribute.name_index, out, |out| {
                    out.extend_from_slice(attribute.data);
                    Ok(())
                })?,
            }
            count += 1;
        }
        if frames_due {
            let name = pool.utf8("StackMapTable")?;
            attribute_with(name, out, |out| self.write_frames(frames, pool, out))?;
            count += 1;
        }
        out[start..start + 2].copy_from_slice(&short(count, "attributes")?);
        Ok(())
    }

    /// Where debug tables see an offset of the file: the start of the method is always its start.
    fn moved_offset(&self, offset: u32) -> u32 {
        let index = self.method.index_at(offset);
        let within = offset - self.method.offsets[index];
        if index == 0 {
            return within;
        }
        let start = self.layout.offsets[self.flat.boundaries[index] as usize];
        start
            .saturating_add(within)
            .min(self.layout.length().max(offset))
    }

    /// A table of fixed-size rows whose first columns are offsets.
    fn moved(
        &self,
        attribute: &Attribute<'_>,
        row: usize,
        columns: &[Column],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        attribute_with(attribute.name_index, out, |out| {
            let start = out.len();
            out.extend_from_slice(attribute.data);
            for row in out[start..]
                .get_mut(2..)
                .unwrap_or_default()
                .chunks_exact_mut(row)
            {
                self.move_row(row, columns);
            }
            Ok(())
        })
    }

    fn move_row(&self, row: &mut [u8], columns: &[Column]) {
        let read = |row: &[u8], at: usize| u32::from(u16::from_be_bytes([row[at], row[at + 1]]));
        let start = read(row, 0);
        let moved = self.moved_offset(start);
        row[..2].copy_from_slice(&(moved as u16).to_be_bytes());
        if columns.contains(&Column::Length) {
            let end = self.moved_offset(start + read(row, 2));
            row[2..4].copy_from_slice(&(end.saturating_sub(moved) as u16).to_be_bytes());
        }
    }

    fn moved_annotations(&self, attribute: &Attribute<'_>, out: &mut Vec<u8>) -> Result<()> {
        let mut data = attribute.data.to_vec();
        code_places(attribute.cursor(), |at, place| match place {
            CodePlace::Range => {
                if let Some(row) = data.get_mut(at..at + 4) {
                    self.move_row(row, &[Column::Start, Column::Length]);
                }
            }
            CodePlace::Offset => {
                if let Some(place) = data.get_mut(at..at + 2) {
                    let offset = u32::from(u16::from_be_bytes([place[0], place[1]]));
                    let index = self.method.index_at(offset);
                    let within = offset - self.method.offsets[index];
                    let moved =
                        self.layout.offsets[self.flat.exact[index] as usize].saturating_add(within);
                    place.copy_from_slice(&(moved as u16).to_be_bytes());
                }
            }
        })?;
        attribute_with(attribute.name_index, out, |out| {
            out.extend_from_slice(&data);
            Ok(())
        })
    }

    fn write_frames(
        &self,
        frames: &FrameTable,
        pool: &mut Pool<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.extend(short(frames.len().saturating_sub(1), "frames")?);
        let mut previous = frames.get(0);
        let mut last = None;
        for frame in frames.iter().skip(1) {
            let at = self.layout.offsets[frame.at as usize];
            let delta = last.map_or(at, |last: u32| at.wrapping_sub(last + 1));
            let before = previous.map_or(&[][..], |previous| previous.locals);
            self.write_frame(&frame, before, delta as u16, pool, out)?;
            last = Some(at);
            previous = Some(frame);
        }
        Ok(())
    }

    fn write_frame(
        &self,
        frame: &FrameView<'_>,
        previous: &[VType],
        delta: u16,
        pool: &mut Pool<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let shape = match frame.style {
            FrameStyle::Full => FrameShape::Full,
            _ => FrameShape::between(previous, frame.locals, frame.stack),
        };
        let short_delta = delta < 64 && frame.style != FrameStyle::Extended;
        let tagged = |out: &mut Vec<u8>, tag: u8| {
            out.push(tag);
            out.extend(delta.to_be_bytes());
        };
        match shape {
            FrameShape::Same if short_delta => out.push(delta as u8),
            FrameShape::Same => tagged(out, 251),
            FrameShape::SameWithOneOnStack => {
                if short_delta {
                    out.push(64 + delta as u8);
                } else {
                    tagged(out, 247);
                }
                self.write_types(frame.stack, pool, out)?;
            }
            FrameShape::Chop(fewer) => tagged(out, 251 - fewer),
            FrameShape::Append(more) => {
                tagged(out, 251 + more);
                self.write_types(&frame.locals[previous.len()..], pool, out)?;
            }
            FrameShape::Full => {
                tagged(out, 255);
                for slots in [frame.locals, frame.stack] {
                    let entries = slots.iter().filter(|&&slot| slot != VType::Half).count();
                    out.extend(short(entries, "frame entries")?);
                    self.write_types(slots, pool, out)?;
                }
            }
        }
        Ok(())
    }

    fn write_types(&self, slots: &[VType], pool: &mut Pool<'_>, out: &mut Vec<u8>) -> Result<()> {
        for &slot in slots {
            match slot {
                VType::Half => {}
                VType::Top | VType::ReturnAddress => out.push(0),
                VType::Integer => out.push(1),
                VType::Float => out.push(2),
                VType::Double => out.push(3),
                VType::Long => out.push(4),
                VType::Null => out.push(5),
                VType::UninitializedThis => out.push(6),
                VType::Object(name) => {
                    out.push(7);
                    out.extend(pool.type_class(name)?.0.to_be_bytes());
                }
                VType::Uninitialized(at) => {
                    out.push(8);
                    put(out, self.layout.offsets[at as usize]);
                }
            }
        }
        Ok(())
    }
}

/// What a column of a debug table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Start,
    /// The distance from the start to the end.
    Length,
}

/// Appends an offset, which the layout has kept below 65536.
fn put(out: &mut Vec<u8>, value: u32) {
    out.extend((value as u16).to_be_bytes());
}

pub(crate) fn short(value: usize, what: &'static str) -> Result<[u8; 2]> {
    u16::try_from(value)
        .map(u16::to_be_bytes)
        .map_err(|_| EditError::TooMany(what))
}

/// Appends an attribute whose length follows from its contents.
fn attribute_with(
    name: PoolIndex,
    out: &mut Vec<u8>,
    contents: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    out.extend(name.0.to_be_bytes());
    let start = out.len();
    out.extend([0; 4]);
    contents(out)?;
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
