//! For tests: makes one step of the start fail, or numbers run out early, so that it can be seen what becomes of the JVM.
//!
//! A variable names the step: `capabilities`, `events`, `thread`, `boot`, `define CLASS`, `skip CLASS` (it is missing, and nobody noticed), `edit CLASS`, with slashes.
//! Another one names a kind of number, as `UntornLimits` does, and how many there are: `objects 1000`.

use std::sync::OnceLock;

const VARIABLE: &str = "UNTORN_TEST_FAIL";

/// Whether this step is to fail.
pub fn fails(step: &str, class: &str) -> bool {
    static WANTED: OnceLock<Option<String>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| std::env::var(VARIABLE).ok());
    wanted.as_deref().is_some_and(|wanted| {
        let (name, of) = wanted.split_once(' ').unwrap_or((wanted, ""));
        name == step && of == class
    })
}

const LIMIT: &str = "UNTORN_TEST_LIMIT";

/// How many numbers of a kind there are for this test.
pub fn limit(kind: &str) -> Option<i64> {
    let wanted = std::env::var(LIMIT).ok()?;
    let (of, most) = wanted.split_once(' ')?;
    (of == kind).then(|| most.parse().ok()).flatten()
}
