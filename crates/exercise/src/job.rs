//! What the driver is told: lines of words, divided by tabs.

use std::fmt::Write;
use std::time::Duration;

use crate::Pair;

/// How the second call gets between the parts of the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The driver stops the first thread before each access in turn.
    Stopped,
    /// The agent holds threads up as plans say, and the exact checker watches.
    Steered,
}

/// Pairs to exercise, in this order.
#[derive(Clone, Debug)]
pub struct Job<'p> {
    pub seed: u64,
    pub way: Way,
    /// For all of them, and for each pair in one pass.
    pub time: Duration,
    pub per_pair: Duration,
    /// How often all pairs are gone through, with other states each time.
    pub passes: u32,
    /// Classes by whose constructors and methods objects may be made.
    pub known: &'p [String],
    /// With their numbers.
    pub pairs: Vec<(usize, &'p Pair)>,
}

impl Job<'_> {
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |words: &[&str]| {
            text.push_str(&words.join("\t"));
            text.push('\n');
        };
        let milliseconds = |time: Duration| time.as_millis().to_string();
        line(&["seed", &self.seed.to_string()]);
        line(&["milliseconds", &milliseconds(self.time)]);
        line(&["per-pair", &milliseconds(self.per_pair)]);
        line(&["passes", &self.passes.to_string()]);
        if self.way == Way::Steered {
            line(&["steered"]);
        }
        for name in self.known {
            line(&["known", name]);
        }
        for (number, pair) in &self.pairs {
            let mut at = String::new();
            write!(at, "{number}").ok();
            let (torn, by) = (&pair.torn, &pair.by);
            line(&["pair", &at, &pair.class, &torn.0, &torn.1, &by.0, &by.1]);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_a_line_for_each_thing() {
        let pair = Pair {
            class: "a.Box".to_owned(),
            torn: ("swap".to_owned(), "(La/Box;)V".to_owned()),
            by: ("set".to_owned(), "(I)V".to_owned()),
            declared_by: "a.Box".to_owned(),
            finding: None,
        };
        let job = Job {
            seed: 7,
            way: Way::Steered,
            time: Duration::from_secs(2),
            per_pair: Duration::from_millis(10),
            passes: 1,
            known: &["a.Box".to_owned()],
            pairs: vec![(3, &pair)],
        };
        let text = job.to_text();
        assert!(text.starts_with("seed\t7\nmilliseconds\t2000\n"), "{text}");
        assert!(
            text.contains("\nsteered\nknown\ta.Box\npair\t3\ta.Box\tswap\t(La/Box;)V\tset\t(I)V\n")
        );
    }
}
