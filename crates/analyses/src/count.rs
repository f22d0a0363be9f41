//! Counts events by kind, threads, regions and locks: the smallest analysis, and the example of how one is written.

use serde_json::{Map, Value, json};
use untorn_model::{Kind, Kinds, Op};
use untorn_trace::{Batch, Error};

use crate::{Analysis, Context, Outcome};

/// Counts what a trace holds; it never reports a finding.
#[derive(Debug, Default)]
pub struct Count {
    by_kind: [u64; Kind::ALL.len()],
    volatile: u64,
    threads: Vec<bool>,
}

impl Analysis for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        self.threads.resize(context.tables.threads.len(), false);
        let mut last = None;
        for event in batch.events {
            if event.op.is_gone() {
                continue;
            }
            self.by_kind[event.op.kind() as usize] += 1;
            if let Op::Read(flags, _) | Op::Write(flags, _) | Op::Update(flags, _) = event.op {
                self.volatile += u64::from(flags.is_volatile());
            }
            if last != Some(event.thread) {
                last = Some(event.thread);
                self.threads[event.thread.index()] = true;
            }
        }
        Ok(())
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        let mut kinds = Map::new();
        for kind in Kind::ALL {
            let count = self.by_kind[kind as usize];
            if count > 0 {
                kinds.insert(kind.name().to_owned(), count.into());
            }
        }
        let stats: Value = json!({
            "kinds": kinds,
            "volatile": self.volatile,
            "threads": self.threads.iter().filter(|seen| **seen).count(),
            "regions": context.tables.regions.len(),
            "locks": context.tables.locks.len(),
            "locations": context.tables.vars().len(),
        });
        outcome.stats.insert(self.name().to_owned(), stats);
        Ok(())
    }
}
