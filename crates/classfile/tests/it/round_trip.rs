//! Every class taken apart and put together unchanged is the same, byte for byte.

use crate::support::{self, Jdk};
use untorn_classfile::edit::rewrite_unchanged;

#[test]
fn java_base_survives_byte_for_byte() {
    let mut count = 0;
    for path in support::classes(&Jdk::default_one().module("java.base")) {
        let bytes = std::fs::read(&path).unwrap();
        let rewritten =
            rewrite_unchanged(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(rewritten == bytes, "{}", path.display());
        count += 1;
    }
    assert!(count > 5000, "{count}");
}
