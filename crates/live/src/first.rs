//! A first run: no events, but which transactions may depend on which.

use untorn_channel::record::Transaction;
use untorn_channel::{Declaration, Record};
use untorn_model::RegionId;

use crate::drain::{Chunk, Passed};
use crate::source::{LiveSource, Share};

/// Nobody asks for keys in a first run.
fn not_a_key(declaration: Declaration) -> Option<Declaration> {
    (!matches!(declaration, Declaration::Key { .. })).then_some(declaration)
}

/// What a thread of a first run tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// The thread is in this transaction now.
    In {
        thread: u32,
        transaction: Transaction,
    },
    /// Its current transaction may depend on that one of another thread.
    Depends { thread: u32, on: u32, number: u64 },
    /// What is known of such a transaction.
    Of {
        thread: u32,
        transaction: Transaction,
    },
    /// A thread has ended.
    Ended { thread: u32 },
    /// Whatever was written before something that was told before the last round, has been told.
    Round,
}

impl LiveSource {
    /// Hears all threads to their ends, each in its order, and says how many records there were.
    ///
    /// No order between threads is needed, so nothing waits for anything.
    pub fn hear(&mut self, mut tell: impl FnMut(Told)) -> u64 {
        let mut heard = 0;
        // By thread: where its last dependence comes from, until that is told in full.
        let mut sources: Vec<Option<u32>> = Vec::new();
        while let Some(passed) = self.next_passed() {
            self.learn_waiting(not_a_key);
            if self.is_late(Share::Looking) {
                // What was just taken counts as well.
                if let Passed::Chunk(chunk) = passed {
                    self.leave_out(chunk.records.len() as u64);
                }
                break;
            }
            let Passed::Chunk(Chunk { thread, records }) = passed else {
                tell(Told::Round);
                continue;
            };
            heard += records.len() as u64;
            if sources.len() <= thread as usize {
                sources.resize(thread as usize + 1, None);
            }
            for &bits in &records {
                let source = sources[thread as usize].take();
                let record = Record::decode(bits);
                if let Some(Record::From(transaction)) = record {
                    if let Some(thread) = source {
                        tell(Told::Of {
                            thread,
                            transaction,
                        });
                    }
                    continue;
                }
                if let Some(thread) = source {
                    // Only of a thread that has ended the transaction is not told: that thread told it itself, last.
                    tell(Told::Ended { thread });
                }
                match record {
                    Some(Record::In(transaction)) => tell(Told::In {
                        thread,
                        transaction,
                    }),
                    Some(Record::Edge {
                        thread: on,
                        position: number,
                    }) => {
                        sources[thread as usize] = Some(on);
                        tell(Told::Depends { thread, on, number });
                    }
                    _ => {}
                }
            }
        }
        self.leave_the_rest();
        self.learn_the_rest(not_a_key);
        heard
    }

    /// A region by the number that the program gave it.
    pub fn region(&self, number: u32) -> Option<RegionId> {
        self.names().region_of(number)
    }
}
