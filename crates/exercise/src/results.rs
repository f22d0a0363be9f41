//! What the driver says, a line at once, so that all is known that came before it ended.

use std::collections::{BTreeMap, BTreeSet};

/// What a part of an outcome was, and what it is if the calls come one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// A call, or a query afterwards.
    pub what: String,
    pub seen: String,
    pub torn_first: String,
    pub torn_last: String,
}

/// An outcome of no serial order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Visible {
    pub parts: Vec<Part>,
    /// After how many races without any steering it is seen, on average; 0 if it was not.
    pub races: u64,
    /// Where the second call came in.
    pub place: Option<String>,
    /// The nearest code to that which is not the platform's: its class with dots, method and line; then that of the points before, the nearest first.
    pub within: Vec<(String, String, u32)>,
    /// The name of the state that showed it.
    pub found: String,
    /// The name of the test that was written.
    pub test: Option<String>,
}

/// What became of a pair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tried {
    /// States that were made.
    pub states: u64,
    /// Calls that were made in two threads.
    pub tries: u64,
    /// Calls that did not return.
    pub hung: u64,
    pub visible: Option<Visible>,
    /// Why nothing was tried.
    pub none: Option<String>,
}

/// What became of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Results {
    /// By the numbers of the pairs.
    pub tried: BTreeMap<usize, Tried>,
    /// The pass and the pair that were begun last, and whether that pair was under way at the end.
    pub last: Option<(u32, usize)>,
    pub is_under_way: bool,
    /// Pairs of which there is nothing more to try.
    pub closed: BTreeSet<usize>,
    /// Whether the driver came to its end, and whether it was the end of its time.
    pub is_done: bool,
    pub is_over: bool,
}

impl Results {
    /// Reads what was written; lines that make no sense, such as one that was cut off, are passed over.
    pub fn read(text: &str) -> Self {
        let mut results = Self::default();
        for line in text.lines() {
            results.take(line);
        }
        results
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split('\t').collect();
        match words[0] {
            "done" => self.is_done = true,
            "over" => self.is_over = true,
            _ => {}
        }
        let number = words.get(1)?.parse().ok()?;
        let count = |at: usize| -> Option<u64> { words.get(at)?.parse().ok() };
        match words[0] {
            "begin" => {
                self.last = Some((words.get(2)?.parse().ok()?, number));
                self.is_under_way = true;
            }
            "closed" => {
                self.closed.insert(number);
            }
            "tried" => {
                self.is_under_way = false;
                let tried = self.tried.entry(number).or_default();
                tried.states += count(2)?;
                tried.tries += count(3)?;
                tried.hung += count(4)?;
            }
            "none" => {
                let why = words.get(2).map(|why| text(why));
                self.tried.entry(number).or_default().none = why;
            }
            "visible" => {
                let mut place = words.get(3)?.split('|');
                let shown = place.next().filter(|place| !place.is_empty());
                let named: Vec<&str> = place.collect();
                let within = named.chunks_exact(3).filter_map(|it| {
                    let line = it[2].parse().ok()?;
                    Some((text(it[0]), text(it[1]), line))
                });
                let parts = words.get(5..)?.chunks_exact(4).map(|part| Part {
                    what: text(part[0]),
                    seen: text(part[1]),
                    torn_first: text(part[2]),
                    torn_last: text(part[3]),
                });
                self.tried.entry(number).or_default().visible = Some(Visible {
                    parts: parts.collect(),
                    races: count(2)?,
                    place: shown.map(text),
                    within: within.collect(),
                    found: (*words.get(4)?).to_owned(),
                    test: None,
                });
            }
            "test" => {
                let tried = self.tried.get_mut(&number)?;
                tried.visible.as_mut()?.test = words.get(2).map(|name| (*name).to_owned());
            }
            _ => {}
        }
        Some(())
    }

    /// With what a later job says.
    pub fn add(&mut self, other: Self) {
        for (number, other) in other.tried {
            let tried = self.tried.entry(number).or_default();
            tried.states += other.states;
            tried.tries += other.tries;
            tried.hung += other.hung;
            tried.none = tried.none.take().or(other.none);
            tried.visible = tried.visible.take().or(other.visible);
        }
        self.closed.extend(other.closed);
        self.last = other.last.or(self.last);
        self.is_under_way = other.is_under_way;
        self.is_done = other.is_done;
        self.is_over |= other.is_over;
    }
}

/// As the driver had it before it wrote it down.
fn text(escaped: &str) -> String {
    let mut plain = String::new();
    let mut letters = escaped.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    plain
}

impl Visible {
    /// As a sentence without its end: what was seen, and what is seen in turn.
    pub fn words(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Part::words).collect();
        parts.join("; ")
    }
}

impl Part {
    fn words(&self) -> String {
        let in_turn = if self.torn_first == self.torn_last {
            shown(&self.torn_first)
        } else {
            format!("{} or {}", shown(&self.torn_first), shown(&self.torn_last))
        };
        format!(
            "{} gave {}, in turn {in_turn}",
            self.what,
            shown(&self.seen)
        )
    }
}

/// Short enough for a line.
fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    if value.is_empty() {
        return "\"\"".to_owned();
    }
    let mut short: String = value.chars().take(LONGEST).collect();
    if short.len() < value.len() {
        short.push('…');
    }
    short.replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_before_the_end_is_known() {
        let text = "begin\t3\t0\ntried\t3\t6\t40\t0\nvisible\t3\t12\tBox.swap:8|a.Box|swap|8|a.Box|get|3\t0:4\tswap\t1\\n2\t1\t3\ntest\t3\tBoxTest\nclosed\t3\nbegin\t4\t0\nvisib";
        let results = Results::read(text);
        assert_eq!((results.last, results.is_done), (Some((0, 4)), false));
        assert!(results.is_under_way && results.closed.contains(&3));
        let tried = &results.tried[&3];
        assert_eq!((tried.states, tried.tries), (6, 40));
        let visible = tried.visible.as_ref().unwrap();
        assert_eq!(visible.test.as_deref(), Some("BoxTest"));
        assert_eq!(visible.place.as_deref(), Some("Box.swap:8"));
        let place = |method: &str, line| ("a.Box".to_owned(), method.to_owned(), line);
        assert_eq!(visible.within, [place("swap", 8), place("get", 3)]);
        assert_eq!(visible.words(), "swap gave 1 2, in turn 1 or 3");
    }
}
