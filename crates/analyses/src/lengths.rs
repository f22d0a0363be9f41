//! How long transactions are: whether what is looked at is short steps, or whole drivers.

use serde_json::{Map, Value, json};
use untorn_model::{Kinds, Op, ThreadId};
use untorn_trace::{Batch, Error};

use crate::{Analysis, Context, Describe, Execution, Nesting, Outcome, Transactions};

/// The name of the counts.
const NAME: &str = "transaction lengths";
/// Lengths are counted by the number of their binary digits.
const DIGITS: usize = u64::BITS as usize + 1;

/// By the digits of a length, how many transactions have such a one.
type Histogram = [u64; DIGITS];

/// A transaction that goes on.
#[derive(Clone, Copy, Debug)]
struct Running {
    execution: Execution,
    events: u64,
}

/// Counts the events of outermost executions of regions, their beginnings and ends included; it never reports a finding.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    transactions: Transactions,
    running: Vec<Option<Running>>,
    /// By the digits of the position at which a transaction begins, so that the beginning of a run can be left out at its end.
    begun: Vec<Histogram>,
    longest: Option<(Running, ThreadId)>,
    end: u64,
}

impl Lengths {
    fn ended(&mut self, running: Running, thread: ThreadId) {
        let begun = digits(running.execution.begin.0);
        if self.begun.len() <= begun {
            self.begun.resize(begun + 1, [0; DIGITS]);
        }
        self.begun[begun][digits(running.events)] += 1;
        if (self.longest).is_none_or(|(longest, _)| longest.events < running.events) {
            self.longest = Some((running, thread));
        }
    }
}

fn digits(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

/// `4-7`: the lengths that have so many digits.
fn lengths_of(digits: usize) -> String {
    let (from, to) = (1u64 << (digits - 1), u64::MAX >> (DIGITS - 1 - digits));
    if from == to {
        from.to_string()
    } else {
        format!("{from}-{to}")
    }
}

fn in_words(histogram: &Histogram) -> Value {
    let filled = histogram.iter().enumerate().skip(1);
    let all: Map<String, Value> = filled
        .filter(|(_, count)| **count > 0)
        .map(|(digits, count)| (lengths_of(digits), json!(count)))
        .collect();
    all.into()
}

impl Analysis for Lengths {
    fn name(&self) -> &'static str {
        NAME
    }

    fn subscribes(&self) -> Kinds {
        Kinds::ALL
    }

    fn batch(&mut self, batch: &Batch<'_>, context: &Context<'_>) -> Result<(), Error> {
        (self.running).resize(context.tables.threads.len(), None);
        self.end = batch.first.0 + batch.events.len() as u64;
        for (index, event) in batch.indexed() {
            if event.op.is_gone() || matches!(event.op, Op::Enter(_) | Op::Exit(_)) {
                continue;
            }
            let thread = event.thread;
            if let Some(running) = &mut self.running[thread.index()] {
                running.events += 1;
            }
            match self.transactions.step(index, event) {
                Nesting::Outermost(execution) => {
                    let events = 1;
                    self.running[thread.index()] = Some(Running { execution, events });
                }
                Nesting::OutermostEnd(_) => {
                    if let Some(running) = self.running[thread.index()].take() {
                        self.ended(running, thread);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn so_far(&self) -> Option<Box<dyn Analysis>> {
        Some(Box::new(self.clone()))
    }

    fn finish(&mut self, context: &Context<'_>, outcome: &mut Outcome) -> Result<(), Error> {
        for (index, running) in std::mem::take(&mut self.running).into_iter().enumerate() {
            if let Some(running) = running {
                self.ended(running, ThreadId(index as u32));
            }
        }
        let sum = |parts: &[Histogram]| {
            let mut all = [0; DIGITS];
            for part in parts {
                for (count, more) in all.iter_mut().zip(part) {
                    *count += more;
                }
            }
            all
        };
        // From the last power of two on that is in the first half of the run.
        let later = self.begun.get(digits(self.end / 2)..).unwrap_or_default();
        let mut stats = json!({
            "all": in_words(&sum(&self.begun)),
            "after warm-up": in_words(&sum(later)),
        });
        if let Some((running, thread)) = self.longest {
            let Execution {
                region,
                begin,
                site,
            } = running.execution;
            let region = Describe::new(context).region(region, thread, begin, site);
            stats["longest"] = json!({ "region": region.short_name(), "events": running.events });
        }
        outcome.stats.insert(NAME.to_owned(), stats);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_named_by_their_digits() {
        assert_eq!(lengths_of(digits(1)), "1");
        assert_eq!(lengths_of(digits(5)), "4-7");
        assert_eq!(
            lengths_of(digits(u64::MAX)),
            format!("{}-{}", 1u64 << 63, u64::MAX)
        );
    }
}
