//! `untorn run` on programs with a forced schedule: loaders, multi-run mode, threads.

#![allow(clippy::unwrap_used)]

mod loaders;
mod modes;
#[path = "../program/mod.rs"]
mod program;
mod threads;
mod waiting;

use std::process::Output;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a run in JSON prints after what the program printed.
fn report(run: &Output) -> serde_json::Value {
    let all = text(&run.stdout);
    let start = all.find('{').unwrap_or(0);
    serde_json::from_str(&all[start..]).unwrap_or_else(|error| {
        panic!("{error}: {all} {}", text(&run.stderr));
    })
}

/// Each finding as method, kind and verdict, sorted.
fn findings(run: &Output) -> Vec<String> {
    let report = report(run);
    let mut all: Vec<String> = (report["findings"].as_array().unwrap().iter())
        .map(|finding| {
            let word = |of: &serde_json::Value| of.as_str().unwrap().to_owned();
            let method = word(&finding["region"]["method"]);
            format!(
                "{method} {} {}",
                word(&finding["kind"]),
                word(&finding["verdict"])
            )
        })
        .collect();
    all.sort();
    all
}
