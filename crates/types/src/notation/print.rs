//! Writes an atomicity so that equal atomicities print the same text, whatever was interned first.

use crate::algebra::{Algebra, Atomicity, Question, Test};
use crate::locks::Lock;

/// The atomicity in the paper's notation, for example `(x = none) ? (this ? mover : atomic) : (x ? mover : error)`.
///
/// Tests come in the order of [`Locks::presentation_key`](crate::locks::Locks::presentation_key), not in that of the diagram.
pub fn print_atomicity(algebra: &mut Algebra, a: Atomicity, params: &[String]) -> String {
    let mut support = algebra.support(a);
    support.sort_by_cached_key(|&lock| algebra.locks.presentation_key(lock));
    Printer { algebra, params }.print(a, &support)
}

struct Printer<'a> {
    algebra: &'a mut Algebra,
    params: &'a [String],
}

impl Printer<'_> {
    fn print(&mut self, a: Atomicity, locks: &[Lock]) -> String {
        let Some((&lock, rest)) = locks.split_first() else {
            return a.basic().map(|b| b.name().to_owned()).unwrap_or_default();
        };
        let [held, always, not_held, none] = [
            (true, Question::IsAlwaysHeld, false),
            (true, Question::IsAlwaysHeld, true),
            (false, Question::IsNone, false),
            (false, Question::IsNone, true),
        ]
        .map(|(held, question, special)| {
            let branch = self.algebra.assume(a, Test::held(lock), held);
            self.algebra
                .assume(branch, Test { lock, question }, special)
        });
        let name = self.algebra.locks.describe(lock, self.params);
        let mut text = if held == not_held {
            self.print(held, rest)
        } else {
            let (high, low) = (self.operand(held, rest), self.operand(not_held, rest));
            format!("{name} ? {high} : {low}")
        };
        // An equality that makes no difference to being held or not is left out.
        for (special, ordinary, word) in [(always, held, "always_held"), (none, not_held, "none")] {
            if special != ordinary {
                let high = self.operand(special, rest);
                text = format!("({name} = {word}) ? {high} : {}", parenthesized(text));
            }
        }
        text
    }

    fn operand(&mut self, a: Atomicity, locks: &[Lock]) -> String {
        parenthesized(self.print(a, locks))
    }
}

fn parenthesized(text: String) -> String {
    if text.contains('?') {
        format!("({text})")
    } else {
        text
    }
}
