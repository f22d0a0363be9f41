//! A first run: no events, but which transactions may depend on which.

use untorn_channel::Record;
use untorn_channel::record::Transaction;
use untorn_model::RegionId;

use crate::source::LiveSource;

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
}

impl LiveSource {
    /// Hears all threads to their ends, each in its order, and says how many records there were.
    ///
    /// No order between threads is needed, so nothing waits for anything.
    pub fn hear(&mut self, mut tell: impl FnMut(Told)) -> u64 {
        let mut heard = 0;
        let mut sources: Vec<u32> = Vec::new();
        while let Some(chunk) = self.next_chunk() {
            heard += chunk.records.len() as u64;
            let thread = chunk.thread;
            if sources.len() <= thread as usize {
                sources.resize(thread as usize + 1, 0);
            }
            for &bits in &chunk.records {
                match Record::decode(bits) {
                    Some(Record::In(transaction)) => tell(Told::In {
                        thread,
                        transaction,
                    }),
                    Some(Record::Edge {
                        thread: on,
                        position: number,
                    }) => {
                        sources[thread as usize] = on;
                        tell(Told::Depends { thread, on, number });
                    }
                    Some(Record::From(transaction)) => tell(Told::Of {
                        thread: sources[thread as usize],
                        transaction,
                    }),
                    _ => {}
                }
            }
        }
        self.learn_the_rest();
        heard
    }

    /// A region by the number that the program gave it.
    pub fn region(&self, number: u32) -> Option<RegionId> {
        self.names().region_of(number)
    }
}
