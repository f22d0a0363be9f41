//! The bundled examples are what they say: the trace speaks of the sources.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "others use more of it")]
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use support::ROOT;

/// What the source line of an event must have in it.
fn expected(operation: &str) -> &'static [&'static str] {
    let (name, of) = operation.trim_end_matches(')').split_once('(').unwrap();
    match name {
        "r" | "w" => &["balance"],
        "acq" => &["synchronized", "balance += amount"],
        "rel" | "end" => &["}"],
        "fork" => &["start()"],
        "join" => &["join()"],
        "begin" if of == "Account.deposit" => &["balance += amount"],
        "begin" => &["synchronized (checking)"],
        other => panic!("what line has {other}?"),
    }
}

#[test]
fn the_lines_of_the_bundled_trace_are_those_of_the_bundled_sources() {
    let root = Path::new(ROOT);
    let sources: BTreeMap<String, Vec<String>> =
        std::fs::read_dir(root.join("examples/bank/src/bank"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, text.lines().map(str::to_owned).collect())
            })
            .collect();
    let trace = std::fs::read_to_string(root.join("examples/traces/bank.std")).unwrap();
    for event in trace.lines() {
        let [_, operation, place] = event.split('|').collect::<Vec<_>>()[..] else {
            panic!("{event}");
        };
        let (file, line) = place.split_once(':').unwrap();
        let line = &sources[file][line.parse::<usize>().unwrap() - 1];
        assert!(
            expected(operation).iter().any(|word| line.contains(word)),
            "{event} is at `{line}`"
        );
    }
}
