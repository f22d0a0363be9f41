//! Numbers of variable length (LEB128), and careful reading of bytes.

pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// What is wrong inside a chunk whose checksum is right.
pub type Flaw = &'static str;

/// Reads from the front of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn len(&self) -> usize {
        self.rest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn byte(&mut self) -> Result<u8, Flaw> {
        let (&first, rest) = self.rest.split_first().ok_or("ends too early")?;
        self.rest = rest;
        Ok(first)
    }

    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Flaw> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or("ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub fn number(&mut self) -> Result<u64, Flaw> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err("a number too large");
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number too long")
    }

    #[inline]
    pub fn number32(&mut self) -> Result<u32, Flaw> {
        u32::try_from(self.number()?).map_err(|_| "a number too large")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_bad_ones_are_refused() {
        let mut out = Vec::new();
        let values = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        for value in values {
            put(&mut out, value);
        }
        let mut bytes = Bytes::new(&out);
        for value in values {
            assert_eq!(bytes.number(), Ok(value));
        }
        assert_eq!(bytes.number(), Err("ends too early"));
        assert!(Bytes::new(&[0xff; 11]).number().is_err());
        assert!(
            Bytes::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2])
                .number()
                .is_err()
        );
        assert_eq!(
            Bytes::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).number32(),
            Err("a number too large")
        );
    }
}
