//! The agent's options: `key=value,key=value`.
//!
//! | key | meaning |
//! |---|---|
//! | `socket` | where `untorn run` or `untorn record` listens; it sends everything else |
//! | `out` | without a listener: the trace file to write |
//! | `include` | class patterns separated by `:`, default every class outside the platform |
//! | `exclude` | class patterns separated by `:` |
//! | `arrays` | `on`: array elements are locations too |
//! | `tracking` | `pessimistic` (a lock per object; the default without a listener) or `optimistic` (threads own objects) |
//! | `private` | `on`: optimistic tracking records objects that one thread alone touches, too |
//! | `stacks` | `on`: record entry and exit of every instrumented method |

use std::path::PathBuf;

use untorn_channel::Config;
use untorn_channel::config::Tracking;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub socket: Option<PathBuf>,
    pub out: Option<PathBuf>,
    /// What the options say; a listener's own configuration replaces it.
    pub config: Config,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OptionError {
    #[error("option `{0}` has no value; write {0}=…")]
    NoValue(String),
    #[error(
        "option `{0}` is unknown; there are socket, out, include, exclude, arrays, tracking, private and stacks"
    )]
    Unknown(String),
    #[error("option `{0}` is on or off, not `{1}`")]
    NotASwitch(String, String),
    #[error("tracking is pessimistic or optimistic, not `{0}`")]
    NotATracking(String),
}

impl Options {
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut options = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| OptionError::NoValue(part.to_owned()))?;
            let patterns = || {
                value
                    .split(':')
                    .filter(|p| !p.is_empty())
                    .map(str::to_owned)
            };
            let switch = || match value {
                "on" | "true" => Ok(true),
                "off" | "false" => Ok(false),
                _ => Err(OptionError::NotASwitch(key.to_owned(), value.to_owned())),
            };
            match key {
                "socket" => options.socket = Some(value.into()),
                "out" => options.out = Some(value.into()),
                "include" => options.config.include.extend(patterns()),
                "exclude" => options.config.exclude.extend(patterns()),
                "arrays" => options.config.arrays = switch()?,
                "tracking" => {
                    options.config.tracking = match value {
                        "pessimistic" => Tracking::Pessimistic,
                        "optimistic" => Tracking::Optimistic,
                        _ => return Err(OptionError::NotATracking(value.to_owned())),
                    };
                }
                "private" => options.config.keep_private = switch()?,
                "stacks" => options.config.stacks = switch()?,
                _ => return Err(OptionError::Unknown(key.to_owned())),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_read_as_documented() {
        let options = Options::parse("out=run.utr,include=a.**:b.C,arrays=on,").unwrap();
        assert_eq!(options.out, Some("run.utr".into()));
        assert_eq!(options.config.include, ["a.**", "b.C"]);
        assert!(options.config.arrays && !options.config.stacks);
        assert_eq!(Options::parse("").unwrap(), Options::default());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("socket", "option `socket` has no value; write socket=…"),
            ("arrays=maybe", "option `arrays` is on or off, not `maybe`"),
            (
                "depth=3",
                "option `depth` is unknown; there are socket, out, include, exclude, arrays, tracking, private and stacks",
            ),
            (
                "tracking=lazy",
                "tracking is pessimistic or optimistic, not `lazy`",
            ),
        ] {
            assert_eq!(Options::parse(text).unwrap_err().to_string(), message);
        }
    }
}
