//! Short scripts for traces: `T1: acq(m) r(x) rel(m)`, a line a stretch of one thread.
//!
//! The n-th operation of a script happens at `S.java:n`.

use untorn_analyses::{Analysis, Outcome, run};
use untorn_trace::{TextOptions, TextSource};

/// The script as a text trace.
pub fn std_text(script: &str) -> String {
    let mut text = String::new();
    let mut line = 0;
    for stretch in script.lines() {
        let Some((thread, ops)) = stretch.trim().split_once(": ") else {
            continue;
        };
        for op in ops.split_whitespace() {
            line += 1;
            text.push_str(&format!("{thread}|{op}|S.java:{line}\n"));
        }
    }
    text
}

/// What an analysis makes of a script.
pub fn analyze(script: &str, analysis: impl Analysis + 'static) -> Outcome {
    let text = std::io::Cursor::new(std_text(script).into_bytes());
    let mut source = TextSource::new("script", text, TextOptions::default());
    run(&mut source, &mut [Box::new(analysis)], &mut |_| {}).unwrap()
}

/// What the findings are about, in their order.
pub fn regions(outcome: &Outcome) -> Vec<String> {
    (outcome.findings.iter())
        .map(|finding| finding.region.short_name())
        .collect()
}
