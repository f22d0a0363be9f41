//! What a program wrote down about its own accesses.

use std::fs;
use std::path::Path;

/// One step of the program's own account.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kind: u8,
    pub place: u32,
    pub value: u64,
}

/// The account of each thread.
pub fn accounts(file: &Path, threads: usize) -> Vec<Vec<Step>> {
    let bytes = fs::read(file).unwrap();
    let mut at = 0;
    let mut take = |count: usize| {
        let part = &bytes[at..at + count];
        at += count;
        part.iter().fold(0u64, |value, &b| value << 8 | b as u64)
    };
    (0..threads)
        .map(|_| {
            let steps = take(4);
            (0..steps)
                .map(|_| Step {
                    kind: take(1) as u8,
                    place: take(4) as u32,
                    value: take(8),
                })
                .collect()
        })
        .collect()
}
