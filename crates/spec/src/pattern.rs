//! Patterns for regions and fields: `package.Class.method`, with `*` for any text without a dot and `**` for any text.
//!
//! `bank.Account.*` is every method of a class, `bank.**` everything in a package and below, `bank.Account.move(I)V` one overload, `bank.Account.move@2` the second block of a method, and `bank.Account.move@0` the method without its blocks.
//! `*.get*` does not cross packages; `**.get*` does.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A parsed pattern.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Pattern {
    name: String,
    descriptor: Option<String>,
    block: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    #[error("empty pattern")]
    Empty,
    #[error(
        "pattern `{0}`: the number of a block stands after `@`, from 1; 0 is the method without its blocks"
    )]
    Block(String),
    #[error("pattern `{0}`: a descriptor looks like (I)V")]
    Descriptor(String),
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (rest, block) = match text.rsplit_once('@') {
            None => (text, None),
            Some((rest, number)) => {
                let number: u32 = number
                    .parse()
                    .map_err(|_| PatternError::Block(text.to_owned()))?;
                (rest, Some(number))
            }
        };
        let (name, descriptor) = match rest.find('(') {
            None => (rest, None),
            Some(at) => {
                let descriptor = &rest[at..];
                if !descriptor.contains(')') || descriptor.ends_with(')') {
                    return Err(PatternError::Descriptor(text.to_owned()));
                }
                (&rest[..at], Some(descriptor.to_owned()))
            }
        };
        if name.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(Self {
            name: name.to_owned(),
            descriptor,
            block,
        })
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;
    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        f.write_str(self.descriptor.as_deref().unwrap_or(""))?;
        match self.block {
            Some(block) => write!(f, "@{block}"),
            None => Ok(()),
        }
    }
}

impl Pattern {
    /// The pattern of exactly one block, or of one method without its blocks.
    pub fn exact(class: &str, method: &str, descriptor: &str, block: Option<u32>) -> Self {
        Self {
            name: format!("{class}.{method}"),
            descriptor: Some(descriptor.to_owned()),
            block: Some(block.unwrap_or(0)),
        }
    }

    /// Whether it names this method, or this block of it; a pattern without a block names the method and all its blocks.
    pub fn matches_region(
        &self,
        class: &str,
        method: &str,
        descriptor: &str,
        block: Option<u32>,
    ) -> bool {
        (self.block.is_none() || self.block == Some(block.unwrap_or(0)))
            && self
                .descriptor
                .as_deref()
                .is_none_or(|wanted| wanted == descriptor)
            && self.matches_name(&format!("{class}.{method}"))
    }

    /// Whether it names this dotted name: a class, a field, a thread.
    pub fn matches_name(&self, name: &str) -> bool {
        name_matches(&self.name, name)
    }
}

/// Whether a name with stars covers a whole name; `*` stands for any text without a dot, `**` for any text.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    glob(pattern.as_bytes(), name.as_bytes())
}

/// Matches in time proportional to the product of the lengths, whatever the pattern.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    // reachable[i]: the pattern so far matches text[..i].
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let mut next = vec![false; text.len() + 1];
        if pattern[at] == b'*' {
            let crosses_dots = pattern.get(at + 1) == Some(&b'*');
            at += if crosses_dots { 2 } else { 1 };
            let mut open = false;
            for i in 0..=text.len() {
                open = (open && (crosses_dots || text[i - 1] != b'.')) || reachable[i];
                next[i] = open;
            }
        } else {
            for i in 0..text.len() {
                next[i + 1] = reachable[i] && text[i] == pattern[at];
            }
            at += 1;
        }
        reachable = next;
    }
    reachable[text.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches_name(name)
    }

    #[test]
    fn stars_stop_at_dots_and_double_stars_do_not() {
        assert!(matches("bank.Account.*", "bank.Account.deposit"));
        assert!(!matches("bank.*", "bank.Account.deposit"));
        assert!(matches("bank.**", "bank.Account.deposit"));
        assert!(matches("**.get*", "a.b.C.getX"));
        assert!(!matches("*.get*", "a.b.C.getX"));
        assert!(matches("a.B$C.m", "a.B$C.m"));
        assert!(!matches("a.B", "a.Bc"));
    }

    #[test]
    fn descriptors_and_blocks_narrow() {
        let pattern: Pattern = "a.B.m(I)V@2".parse().unwrap();
        assert!(pattern.matches_region("a.B", "m", "(I)V", Some(2)));
        assert!(!pattern.matches_region("a.B", "m", "(I)V", None));
        assert!(!pattern.matches_region("a.B", "m", "(J)V", Some(2)));
        assert_eq!(pattern.to_string(), "a.B.m(I)V@2");
        let whole: Pattern = "a.B.m".parse().unwrap();
        assert!(whole.matches_region("a.B", "m", "(J)V", Some(1)));
        let alone: Pattern = "a.B.m@0".parse().unwrap();
        assert!(alone.matches_region("a.B", "m", "(J)V", None));
        assert!(!alone.matches_region("a.B", "m", "(J)V", Some(1)));
        for bad in ["", "a.B.m@-1", "a.B.m@x", "a.B.m(I)", "(I)V"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }

    /// The definition, by trying every split.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'*', b'*', rest @ ..] => (0..=text.len()).any(|i| naive(rest, &text[i..])),
            [b'*', rest @ ..] => (0..=text.len())
                .take_while(|&i| !text[..i].contains(&b'.'))
                .any(|i| naive(rest, &text[i..])),
            [first, rest @ ..] => text.first() == Some(first) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn the_matcher_agrees_with_the_definition(pattern in "[ab.*]{0,7}", text in "[ab.]{0,7}") {
            prop_assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), naive(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
