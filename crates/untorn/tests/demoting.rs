//! What is demoted while a program runs is demoted in a trace that was recorded without it.

#![allow(clippy::unwrap_used)]

mod program;

use program::Program;
use serde_json::Value;

/// A driver that stays open for long, and a method that it calls at its end, torn by the other thread in a forced schedule.
const DRIVEN: &str = r"
public class Driven {
    static int total;
    static int value;

    static void add() {
        int before = value;
        Turn.pass(1);
        Turn.await(2);
        value = before + 1;
    }

    static void step(int i) {
        total += i;
        total -= i / 2;
    }

    static void drive(int rounds) {
        for (int i = 0; i < rounds; i++) step(i);
        add();
    }

    static class Turn {
        static volatile int turn;
        static void pass(int next) { turn = next; }
        static void await(int wanted) {
            try {
                while (turn < wanted) Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread other = new Thread(() -> {
            Turn.await(1);
            value = 7;
            Turn.pass(2);
        });
        other.start();
        drive(6000);
        other.join();
    }
}
";

/// The methods that were demoted, and those that were observed torn.
fn demoted_and_observed(document: &Value) -> (Vec<String>, Vec<String>) {
    let method = |region: &Value| region["method"].as_str().unwrap().to_owned();
    let demoted = document["stats"]["demoted"].as_array();
    let demoted = (demoted.into_iter().flatten())
        .map(|entry| method(&entry["region"]))
        .collect();
    let observed = document["findings"].as_array().unwrap().iter();
    let observed = observed
        .filter(|finding| finding["verdict"] == "observed")
        .map(|finding| method(&finding["region"]))
        .collect();
    (demoted, observed)
}

#[test]
fn a_trace_is_demoted_as_the_run_would_have_been() {
    let program = Program::compile("Driven", DRIVEN);
    let json = |output: std::process::Output| -> Value {
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let watch = ["--exclude", "Driven$Turn", "--tracking", "pessimistic"];
    let mut live = vec!["run", "--with", "aerodrome", "--stats", "--format", "json"];
    live.extend(watch);
    let live = json(program.watched(&live));
    let expected = (vec!["drive".to_owned()], vec!["add".to_owned()]);
    assert_eq!(demoted_and_observed(&live), expected, "{live:#}");
    let lengths = &live["stats"]["transaction lengths"];
    assert!(
        lengths["longest"]["events"].as_u64() > Some(4000),
        "{lengths}"
    );
    let later = lengths["after warm-up"].as_object().unwrap();
    assert!(
        later
            .keys()
            .all(|length| ["1", "2-3", "4-7"].contains(&length.as_str())),
        "{lengths}"
    );

    // What the user names is not demoted, so this trace holds the whole driver.
    let (spec, trace) = (program.file("spec.toml"), program.file("run.utr"));
    std::fs::write(
        &spec,
        "include = [\"Driven.add\", \"Driven.step\", \"Driven.drive\"]",
    )
    .unwrap();
    let mut record = vec!["record", "--spec", &spec, "-o", &trace];
    record.extend(watch);
    let recorded = program.watched(&record);
    assert!(recorded.status.success(), "{recorded:?}");
    let analyzed = |options: &[&str]| {
        let mut arguments = vec!["analyze", &trace, "--with", "aerodrome", "--format", "json"];
        arguments.extend(options);
        json(Program::untorn(&arguments))
    };
    let (none, _) = demoted_and_observed(&analyzed(&[]));
    assert_eq!(none, [""; 0]);
    assert_eq!(demoted_and_observed(&analyzed(&["--demote"])), expected);
    // What a specification names is meant to be one step here, too.
    let (named, _) = demoted_and_observed(&analyzed(&["--demote", "--spec", &spec]));
    assert_eq!(named, [""; 0]);
}
