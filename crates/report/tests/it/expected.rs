//! Output that was looked at once and is kept beside the tests.

use std::path::Path;

/// Compares with the file in `expected/`; `UNTORN_BLESS=1` renews it.
pub fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/expected")
        .join(name);
    if std::env::var_os("UNTORN_BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        actual, expected,
        "{name} differs; if the new form is right, run with UNTORN_BLESS=1"
    );
}
