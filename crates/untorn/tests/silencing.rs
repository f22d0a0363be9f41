//! What sources say of lines, in runs: one silent line silences no other.

#![allow(clippy::unwrap_used)]

#[expect(dead_code, reason = "more than is asked for here")]
mod program;

use program::Program;

/// Torn twice in one method, in a forced schedule.
const TWICE: &str = r"
public class Twice {
    int n;
    int m;

    void both() {
        int seen = n; // first
        Turn.pass(1);
        Turn.await(2);
        n = seen + 1; // first
        int other = m; // second
        Turn.pass(3);
        Turn.await(4);
        m = other + 1; // second
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
        Twice shared = new Twice();
        Thread other = new Thread(() -> {
            Turn.await(1);
            shared.n = 5;
            Turn.pass(2);
            Turn.await(3);
            shared.m = 6;
            Turn.pass(4);
        });
        other.start();
        shared.both();
        other.join();
    }
}
";

#[test]
fn a_silent_line_leaves_the_rest_of_its_method_to_be_looked_at() {
    let program = Program::compile("Twice", TWICE);
    let sources = program.file("silent");
    std::fs::create_dir(&sources).unwrap();
    let fields = |marked: &[&str], options: &[&str]| -> Vec<String> {
        let mut text = TWICE.to_owned();
        for mark in marked {
            text = text.replace(&format!("// {mark}"), "/*# no_warn */");
        }
        std::fs::write(format!("{sources}/Twice.java"), text).unwrap();
        let mut arguments = vec!["run", "--exclude", "Twice$Turn", "--source", &sources];
        arguments.extend(["--format", "json"]);
        arguments.extend(options);
        let run = program.watched(&arguments);
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let mut fields: Vec<String> = (report["findings"].as_array().unwrap().iter())
            .flat_map(|finding| finding["evidence"]["interleavings"].as_array().unwrap())
            .flat_map(|order| order["steps"].as_array().unwrap())
            .map(|step| step["target"].as_str().unwrap())
            .map(|target| target.rsplit('.').next().unwrap().to_owned())
            .collect();
        fields.sort();
        fields.dedup();
        fields
    };
    for options in [
        &["--with", "aerodrome"][..],
        &["--with", "velodrome"],
        &["--fast"],
        &["--with", "doublechecker,atomizer,views"],
    ] {
        assert!(!fields(&[], options).is_empty(), "{options:?}");
        assert_eq!(fields(&["first"], options), ["m"], "{options:?}");
        assert_eq!(fields(&["second"], options), ["n"], "{options:?}");
        assert_eq!(
            fields(&["first", "second"], options),
            [""; 0],
            "{options:?}"
        );
    }
}
