//! Merges the instructions of the file with all insertions into one list.

use crate::edit::error::{EditError, Result};
use crate::edit::method::{Insert, MethodEditor, Place};
use crate::edit::snippet::{ExplicitFrame, Item, Label, Spot};
use crate::insn::Insn;

const NOWHERE: u32 = u32::MAX;

/// The edited body in order, and where everything went; positions count instructions of the list.
#[derive(Debug)]
pub(crate) struct Flat<'m> {
    pub(crate) insns: Vec<&'m Insn<Label>>,
    /// Per instruction of the file and for the end: where jumps land.
    pub(crate) targets: Vec<u32>,
    /// Per instruction of the file and for the end: where exception ranges meet.
    pub(crate) boundaries: Vec<u32>,
    /// Per instruction of the file and for the end: the instruction itself.
    pub(crate) exact: Vec<u32>,
    /// Per fresh label.
    fresh: Vec<u32>,
    /// Instructions of the file that inserted code jumps to.
    pub(crate) jumped_to: Vec<usize>,
    /// Labels and frames of inserted code in order of position.
    pub(crate) marks: Vec<(u32, Mark<'m>)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark<'m> {
    /// A fresh label, by number.
    Label(usize),
    Frame(&'m ExplicitFrame),
}

impl<'m> Flat<'m> {
    pub(crate) fn new(method: &'m MethodEditor<'_>) -> Result<Self> {
        let count = method.insns.len();
        let mut inserts = method.inserts.clone();
        // Stable: insertions at one place keep the order in which they were made.
        inserts.sort_by_key(|insert| (insert.at, insert.place));
        if let Some(last) = inserts.last()
            && (last.at as usize > count || last.at as usize == count && last.place > Place::Before)
        {
            return Err(EditError::NoSuchInstruction(last.at as usize));
        }
        let mut flat = Self {
            insns: Vec::with_capacity(count + method.items.len()),
            targets: Vec::with_capacity(count + 1),
            boundaries: Vec::with_capacity(count + 1),
            exact: Vec::with_capacity(count + 1),
            fresh: vec![NOWHERE; method.fresh as usize],
            jumped_to: Vec::new(),
            marks: Vec::new(),
        };
        let mut rest = &inserts[..];
        for index in 0..=count {
            rest = flat.place(method, rest, index, Place::Entry)?;
            flat.boundaries.push(flat.here());
            rest = flat.place(method, rest, index, Place::Into)?;
            flat.targets.push(flat.here());
            rest = flat.place(method, rest, index, Place::Before)?;
            flat.exact.push(flat.here());
            let after_replacement = flat.place(method, rest, index, Place::Replace)?;
            if after_replacement.len() == rest.len()
                && let Some(insn) = method.insns.get(index)
            {
                flat.insns.push(insn);
            }
            rest = flat.place(method, after_replacement, index, Place::After)?;
        }
        Ok(flat)
    }

    fn here(&self) -> u32 {
        self.insns.len() as u32
    }

    /// Takes the insertions for one place off the front of `inserts`.
    fn place<'i>(
        &mut self,
        method: &'m MethodEditor<'_>,
        mut inserts: &'i [Insert],
        index: usize,
        place: Place,
    ) -> Result<&'i [Insert]> {
        while let Some((first, rest)) = inserts.split_first()
            && (first.at as usize, first.place) == (index, place)
        {
            let end = (first.end as usize).min(method.items.len());
            for item in &method.items[first.start as usize..end] {
                match item {
                    Item::Insn(insn) => {
                        self.insns.push(insn);
                        self.jumped_to.extend(insn.targets().filter_map(
                            |target| match target.spot() {
                                Spot::Target(index) => Some(index),
                                _ => None,
                            },
                        ));
                    }
                    Item::Frame(frame) => self.marks.push((self.here(), Mark::Frame(frame))),
                    Item::Bind(label) => self.bind(*label)?,
                }
            }
            inserts = rest;
        }
        Ok(inserts)
    }

    fn bind(&mut self, label: Label) -> Result<()> {
        let here = self.here();
        match label.spot() {
            Spot::Fresh(number) if self.fresh.get(number) == Some(&NOWHERE) => {
                self.fresh[number] = here;
                self.marks.push((here, Mark::Label(number)));
                Ok(())
            }
            _ => Err(EditError::LabelBoundTwice(label.number())),
        }
    }

    /// The position of a label.
    pub(crate) fn position(&self, label: Label) -> Result<u32> {
        let position = match label.spot() {
            Spot::Target(index) => self.targets.get(index),
            Spot::Boundary(index) => self.boundaries.get(index),
            Spot::Fresh(index) => self.fresh.get(index),
        };
        match position {
            Some(&position) if position != NOWHERE => Ok(position),
            _ => Err(EditError::UnboundLabel(label.number())),
        }
    }
}
