//! Records that stay: in memory while they are few, then in a nameless temporary file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Records that are held in memory before they are written out together.
const IN_MEMORY: usize = 1 << 20;

/// Appends records and reads them again.
#[derive(Debug, Default)]
pub struct Log {
    file: Option<File>,
    /// How many are in the file.
    written: u64,
    recent: Vec<u64>,
}

impl Log {
    pub fn len(&self) -> u64 {
        self.written + self.recent.len() as u64
    }

    /// Bytes that went to the disk.
    pub fn spilled(&self) -> u64 {
        self.written * 8
    }

    pub fn push(&mut self, records: &[u64]) -> io::Result<()> {
        if self.recent.len() + records.len() > IN_MEMORY {
            self.spill()?;
        }
        self.recent.extend_from_slice(records);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        write(file, self.written, &self.recent)?;
        self.written += self.recent.len() as u64;
        self.recent.clear();
        Ok(())
    }

    /// Appends the records from an index on to a vector.
    pub fn read(&self, from: u64, count: usize, into: &mut Vec<u64>) -> io::Result<()> {
        let end = from + count as u64;
        if from < self.written
            && let Some(file) = &self.file
        {
            let count = (end.min(self.written) - from) as usize;
            read(file, from, count, into)?;
        }
        let start = from.saturating_sub(self.written) as usize;
        let end = end.saturating_sub(self.written) as usize;
        into.extend_from_slice(&self.recent[start..end]);
        Ok(())
    }
}

/// Records that are turned into bytes at a time: few enough to stay close.
const STEP: usize = 1 << 13;

/// Writes records at a place that counts records.
pub fn write(file: &File, at: u64, records: &[u64]) -> io::Result<()> {
    let mut bytes = vec![0; records.len().min(STEP) * 8];
    for (part, at) in records.chunks(STEP).zip((at..).step_by(STEP)) {
        let bytes = &mut bytes[..part.len() * 8];
        let (eights, _) = bytes.as_chunks_mut::<8>();
        for (eight, record) in eights.iter_mut().zip(part) {
            *eight = record.to_ne_bytes();
        }
        file.write_all_at(bytes, at * 8)?;
    }
    Ok(())
}

/// Appends what was written there to a vector.
pub fn read(file: &File, at: u64, count: usize, into: &mut Vec<u64>) -> io::Result<()> {
    let mut bytes = vec![0; count.min(STEP) * 8];
    let (mut at, mut left) = (at, count);
    while left > 0 {
        let now = left.min(STEP);
        let bytes = &mut bytes[..now * 8];
        file.read_exact_at(bytes, at * 8)?;
        let (eights, _) = bytes.as_chunks::<8>();
        into.extend(eights.iter().map(|eight| u64::from_ne_bytes(*eight)));
        at += now as u64;
        left -= now;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_to_the_disk_reads_as_what_is_in_memory() {
        let mut log = Log::default();
        let all: Vec<u64> = (0..IN_MEMORY as u64 + 5000).collect();
        for part in all.chunks(777) {
            log.push(part).unwrap();
        }
        assert_eq!(log.len(), all.len() as u64);
        assert!(log.spilled() > 0 && log.spilled() < 8 * log.len());
        let edge = log.spilled() as usize / 8;
        for (from, count) in [(0, 10), (edge - 5, 10), (edge, 7), (all.len() - 3, 3)] {
            let mut again = Vec::new();
            log.read(from as u64, count, &mut again).unwrap();
            assert_eq!(again, all[from..from + count], "from {from}");
        }
    }
}
