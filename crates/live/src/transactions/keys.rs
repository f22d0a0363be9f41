//! The names of keys, until it is known which are spoken of.
//!
//! A program may use ever new keys, and most of them in no stretch that is looked at.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};

/// Bytes that are held in memory before they are written out together.
const IN_MEMORY: usize = 1 << 20;

/// Keys and their names, in a nameless temporary file if they are many.
#[derive(Debug, Default)]
pub struct Keys {
    file: Option<File>,
    recent: Vec<u8>,
}

impl Keys {
    pub fn is_empty(&self) -> bool {
        self.file.is_none() && self.recent.is_empty()
    }

    /// Whether they are so few that it is not worth asking which are spoken of.
    pub fn are_few(&self) -> bool {
        self.file.is_none()
    }

    pub fn push(&mut self, key: u64, name: &str) {
        self.recent.extend(key.to_ne_bytes());
        self.recent.extend((name.len() as u64).to_ne_bytes());
        self.recent.extend(name.as_bytes());
        if self.recent.len() >= IN_MEMORY && self.write().is_ok() {
            self.recent.clear();
        }
    }

    /// If that fails they stay in memory.
    fn write(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let end = file.stream_position()?;
        let written = file.write_all(&self.recent);
        if written.is_err() {
            file.seek(io::SeekFrom::Start(end))?;
        }
        written
    }

    /// Visits all of them.
    pub fn each(&mut self, mut visit: impl FnMut(u64, String)) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let end = file.stream_position()?;
            file.rewind()?;
            let mut reader = BufReader::new((&*file).take(end));
            while let Some((key, name)) = read(&mut reader)? {
                visit(key, name);
            }
        }
        let mut rest = &self.recent[..];
        while let Some((key, name)) = read(&mut rest)? {
            visit(key, name);
        }
        Ok(())
    }
}

fn read(from: &mut impl Read) -> io::Result<Option<(u64, String)>> {
    let mut eight = [0; 8];
    if from.read(&mut eight[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut eight[1..])?;
    let key = u64::from_ne_bytes(eight);
    from.read_exact(&mut eight)?;
    let mut name = vec![0; u64::from_ne_bytes(eight) as usize];
    from.read_exact(&mut name)?;
    Ok(Some((key, String::from_utf8_lossy(&name).into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_come_back_whether_few_or_many() {
        for count in [3, 200_000] {
            let mut keys = Keys::default();
            for key in 0..count {
                keys.push(key, &format!("key {key}"));
            }
            assert_eq!(keys.are_few(), count == 3);
            let mut again = 0;
            keys.each(|key, name| {
                assert_eq!((key, name), (again, format!("key {again}")));
                again += 1;
            })
            .unwrap();
            assert_eq!(again, count);
        }
    }
}
