//! Big-endian reading that knows its place in the class file.

use crate::error::{Error, ErrorKind, Result};

/// Reads a slice of the class file from front to back.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
    base: u32,
}

impl<'a> Cursor<'a> {
    /// Starts at the front of `data`, which lies at byte `base` of the class file.
    pub(crate) fn new(data: &'a [u8], base: u32) -> Self {
        Self { data, pos: 0, base }
    }

    /// Offset from the start of the class file.
    pub(crate) fn offset(&self) -> u32 {
        self.base + self.pos as u32
    }

    /// Offset from the start of the slice.
    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn remaining(&self) -> usize {
        self.data.len() - self.pos
    }

    pub(crate) fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(Error {
            offset: self.offset(),
            kind,
        })
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.data[self.pos..].get(..count) {
            Some(bytes) => {
                self.pos += count;
                Ok(bytes)
            }
            None => self.fail(ErrorKind::Truncated),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.data[self.pos..].first_chunk::<N>() {
            Some(bytes) => {
                self.pos += N;
                Ok(*bytes)
            }
            None => self.fail(ErrorKind::Truncated),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn i8(&mut self) -> Result<i8> {
        self.u8().map(|byte| byte as i8)
    }

    pub(crate) fn i16(&mut self) -> Result<i16> {
        self.u16().map(|value| value as i16)
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.u32().map(|value| value as i32)
    }

    /// Reads a `u16` count of elements that take at least `size` bytes each, then the elements.
    ///
    /// The capacity is bounded by what is left to read, so a forged count allocates nothing.
    pub(crate) fn list<T>(
        &mut self,
        size: usize,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.u16()? as usize;
        let mut list = Vec::with_capacity(count.min(self.remaining() / size.max(1)));
        for _ in 0..count {
            list.push(element(self)?);
        }
        Ok(list)
    }

    pub(crate) fn finish(&self) -> Result<()> {
        if self.remaining() == 0 {
            Ok(())
        } else {
            self.fail(ErrorKind::TrailingBytes)
        }
    }
}
