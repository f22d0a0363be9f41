//! What the driver is told: lines of words, divided by tabs.

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
    /// What is left of the time, whatever is left to do.
    pub time: Duration,
    /// How often all pairs are gone through, with other states and more of them each time.
    pub passes: u32,
    /// The pass and pair at which a process before this one ended.
    pub after: Option<(u32, usize)>,
    /// Classes by whose constructors and methods objects may be made.
    pub known: &'p [String],
    /// With their numbers, in their order, and the names of states that showed a tear.
    pub pairs: Vec<(usize, &'p Pair, String)>,
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
        line(&["passes", &self.passes.to_string()]);
        if let Some((pass, number)) = self.after {
            line(&["after", &pass.to_string(), &number.to_string()]);
        }
        if self.way == Way::Steered {
            line(&["steered"]);
        }
        for name in self.known {
            line(&["known", name]);
        }
        for (number, pair, found) in &self.pairs {
            let at = number.to_string();
            let (torn, by) = (&pair.torn, &pair.by);
            line(&[
                "pair",
                &at,
                &pair.class,
                &torn.0,
                &torn.1,
                &by.0,
                &by.1,
                found,
            ]);
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
            passes: 1,
            after: Some((0, 2)),
            known: &["a.Box".to_owned()],
            pairs: vec![(3, &pair, "0:4".to_owned())],
        };
        let text = job.to_text();
        assert!(text.starts_with("seed\t7\nmilliseconds\t2000\n"), "{text}");
        assert!(
            text.contains("\npasses\t1\nafter\t0\t2\nsteered\n"),
            "{text}"
        );
        let pair = "\nknown\ta.Box\npair\t3\ta.Box\tswap\t(La/Box;)V\tset\t(I)V\t0:4\n";
        assert!(text.contains(pair), "{text}");
    }
}
