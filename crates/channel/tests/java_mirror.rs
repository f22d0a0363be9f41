//! The Java runtime and this crate agree on every number.

use std::collections::HashMap;

use untorn_channel::{layout, record};

/// Every `NAME = value` with a plain number, also `1L << 63`, in a Java file.
fn constants(source: &str) -> HashMap<String, u64> {
    let words: Vec<&str> = source
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(3)
        .filter(|w| w[1] == "=")
        .filter_map(|w| Some((w[0].to_owned(), w[2].trim_end_matches('L').parse().ok()?)))
        .collect()
}

#[test]
fn java_constants_equal_ours() {
    let java = constants(concat!(
        include_str!("../../agent/java/java/lang/UntornRecord.java"),
        include_str!("../../agent/java/java/lang/UntornMemory.java"),
    ));
    let ours = (record::OPERATIONS.iter())
        .chain(&layout::JAVA_CONSTANTS)
        .chain(&[
            ("SITE_BITS", record::SITE_BITS as u64),
            ("THREAD_BITS", record::THREAD_BITS as u64),
            ("POSITION_BITS", record::POSITION_BITS as u64),
            ("LOCK_BITS", record::LOCK_BITS as u64),
        ]);
    for (name, value) in ours {
        assert_eq!(java.get(*name), Some(value), "{name}");
    }
}
