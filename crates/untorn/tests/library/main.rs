//! `untorn run` on programs that use the platform's locks, atomics and collections.

#![allow(clippy::unwrap_used)]

mod contents;
mod locks;
#[path = "../program/mod.rs"]
mod program;

use std::collections::BTreeMap;
use std::process::Output;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a run with `-o` wrote: the verdict of each region, as `Class.method`.
fn verdicts(file: &str, run: &Output) -> BTreeMap<String, String> {
    let written = std::fs::read_to_string(file).unwrap_or_else(|error| {
        panic!("{error}: {} {}", text(&run.stdout), text(&run.stderr));
    });
    let report: serde_json::Value = serde_json::from_str(&written).unwrap();
    let word = |of: &serde_json::Value| of.as_str().unwrap_or_default().to_owned();
    (report["findings"].as_array().unwrap().iter())
        .map(|finding| {
            let class = word(&finding["region"]["class"]);
            let class = class.rsplit('$').next().unwrap_or_default();
            let method = word(&finding["region"]["method"]);
            (format!("{class}.{method}"), word(&finding["verdict"]))
        })
        .collect()
}
