//! Runtimes of other releases than those that all tests run on.

use std::path::PathBuf;

use crate::support::version;

/// The runtime of a release that the set-up brought; tests that need it say so.
pub fn runtime(release: u32) -> PathBuf {
    let all = std::env::var_os("UNTORN_TEST_RUNTIMES");
    let all = all.expect("UNTORN_TEST_RUNTIMES: run `cargo xtask setup --export`");
    let found = std::env::split_paths(&all).find(|home| version(home) == release);
    found.unwrap_or_else(|| panic!("the set-up brought no Java {release}"))
}
