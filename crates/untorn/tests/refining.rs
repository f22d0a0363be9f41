//! Multi-run mode, refinement and specifications, end to end on a program whose schedule is forced.

#![allow(clippy::unwrap_used)]

mod program;

use std::process::Output;

use program::Program;

/// Two threads that always interleave in the same way: `torn` and `alsoTorn` are divided in every run, `whole` never.
const FORCED: &str = r"
public class Forced {
    static volatile int step;
    private int first;
    private int second;

    synchronized int first() { return first; }
    synchronized void first(int value) { first = value; }
    synchronized int second() { return second; }
    synchronized void second(int value) { second = value; }
    synchronized void whole() { first++; second++; }

    // Not by spinning: a region that waits for another thread's write is two.
    private static void reach(int wanted) {
        try {
            while (step < wanted) Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void torn() {
        int seen = first();
        Forced.step = 1;
        reach(2);
        first(seen + 1);
    }

    void alsoTorn() {
        int seen = second();
        Forced.step = 3;
        reach(4);
        second(seen + 1);
    }

    public static void main(String[] arguments) throws Exception {
        Forced shared = new Forced();
        Thread other = new Thread(() -> {
            reach(1);
            shared.first(7);
            step = 2;
            reach(3);
            shared.second(7);
            step = 4;
        });
        other.start();
        shared.torn();
        shared.alsoTorn();
        shared.whole();
        other.join();
    }
}
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The methods that a run in JSON names, sorted.
fn methods(run: &Output) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|error| {
        panic!("{error}: {} {}", text(&run.stdout), text(&run.stderr));
    });
    let mut methods: Vec<String> = (report["findings"].as_array().unwrap().iter())
        .map(|finding| finding["region"]["method"].as_str().unwrap().to_owned())
        .collect();
    methods.sort();
    methods
}

#[test]
fn a_second_run_finds_what_a_single_run_finds() {
    let program = Program::compile("Forced", FORCED);
    let single = program.watched(&["run", "--with", "doublechecker", "--format", "json"]);
    assert_eq!(methods(&single), ["alsoTorn", "torn"]);
    let (one, all) = (program.file("one.prof"), program.file("all.prof"));
    let first = program.watched(&["run", "--mode", "first", "--profile", &one]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let merged = Program::untorn(&["profile", "merge", &one, &one, "-o", &all]);
    assert!(merged.status.success());
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&all).unwrap());
    let second = program.watched(&[
        "run",
        "--mode",
        "second",
        "--profile",
        &all,
        "--format",
        "json",
    ]);
    assert_eq!(methods(&second), ["alsoTorn", "torn"]);
}

#[test]
fn refinement_comes_to_an_end_and_says_why_each_region_went() {
    let program = Program::compile("Forced", FORCED);
    let (spec, again) = (program.file("spec.toml"), program.file("again.toml"));
    let run = program.watched(&["refine", "--trials", "2", "-o", &spec]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(
        text(&run.stderr).contains("2 regions taken out"),
        "{}",
        text(&run.stderr)
    );
    let refined = std::fs::read_to_string(&spec).unwrap();
    for (reason, region) in [
        ("# Forced.torn is torn", "\"Forced.torn()V@0\""),
        ("# Forced.alsoTorn is torn", "\"Forced.alsoTorn()V@0\""),
    ] {
        assert!(
            refined.contains(reason) && refined.contains(region),
            "{refined}"
        );
    }
    assert!(!refined.contains("whole"), "{refined}");

    let evidence = std::fs::read_to_string(format!("{spec}.findings.json")).unwrap();
    assert!(evidence.contains("interleavings"));

    // What it wrote is not overwritten by mistake, and can be gone on with.
    let refused = program.watched(&["refine", "--trials", "1", "-o", &spec]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--resume"));
    let resumed = program.watched(&["refine", "--trials", "1", "--resume", "-o", &spec]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    assert_eq!(std::fs::read_to_string(&spec).unwrap(), refined);

    // A second refinement of what is left removes nothing.
    let fixpoint = program.watched(&[
        "refine", "--trials", "2", "--jobs", "2", "--spec", &spec, "-o", &again,
    ]);
    assert_eq!(
        fixpoint.status.code(),
        Some(0),
        "{}",
        text(&fixpoint.stderr)
    );
    assert!(
        text(&fixpoint.stderr).contains("trial 2: 0 regions taken out"),
        "{}",
        text(&fixpoint.stderr)
    );
}

/// Two regions that cross: each sees what the other wrote before, and neither is left and entered again.
const CROSSED: &str = r"
public class Crossed {
    static int x;
    static int y;
    static Object seen;

    static void left() {
        x = 1;
        Turn.pass(1);
        Turn.await(2);
        seen = y;
    }

    static void right() {
        y = 1;
        int got = x;
        if (got == 0) throw new IllegalStateException();
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
            right();
            Turn.pass(2);
        });
        other.start();
        left();
        other.join();
    }
}
";

/// What is excluded of a specification.
fn excluded(spec: &str) -> Vec<String> {
    let text = std::fs::read_to_string(spec).unwrap();
    let lines = text.lines().map(|line| line.trim().trim_end_matches(','));
    lines
        .filter(|line| line.starts_with("\"Crossed"))
        .map(|line| line.trim_matches('"').to_owned())
        .collect()
}

#[test]
fn who_completes_a_cycle_is_taken_out_though_nobody_is_torn() {
    let program = Program::compile("Crossed", CROSSED);
    let (spec, all) = (program.file("spec.toml"), program.file("all.toml"));
    let watch = ["--exclude", "Crossed$Turn", "--tracking", "pessimistic"];
    let refine = |options: &[&str], spec: &str| {
        let mut arguments = vec!["refine", "--trials", "1", "-o", spec];
        arguments.extend(watch);
        arguments.extend(options);
        let run = program.watched(&arguments);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    };
    refine(&[], &spec);
    assert_eq!(excluded(&spec), ["Crossed.left()V@0"]);
    let reason = std::fs::read_to_string(&spec).unwrap();
    assert!(reason.contains("have no serial order"), "{reason}");
    refine(&["--from-all-methods", "--with", "velodrome"], &all);
    assert_eq!(excluded(&all), ["Crossed.left()V@0"]);
    let all = std::fs::read_to_string(&all).unwrap();
    assert!(all.contains("heuristic = \"all-methods\""), "{all}");
}

#[test]
fn trials_may_be_first_runs_and_a_second_one() {
    let program = Program::compile("Forced", FORCED);
    let spec = program.file("spec.toml");
    let run = program.watched(&["refine", "--trials", "1", "--first-runs", "2", "-o", &spec]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let refined = std::fs::read_to_string(&spec).unwrap();
    assert!(
        refined.contains("\"Forced.torn()V@0\"") && refined.contains("\"Forced.alsoTorn()V@0\""),
        "{refined}"
    );
    let no_such = program.watched(&[
        "refine",
        "--first-runs",
        "1",
        "--with",
        "aerodrome",
        "-o",
        &program.file("none.toml"),
    ]);
    assert_eq!(no_such.status.code(), Some(2));
    assert!(text(&no_such.stderr).contains("--first-runs"));
}

#[test]
fn a_specification_is_shown_with_its_rules_and_intersected() {
    let program = Program::compile("Forced", FORCED);
    let (a, b) = (program.file("a.toml"), program.file("b.toml"));
    std::fs::write(&a, "heuristic = \"auto\"\nexclude = [\"Forced.torn\"]\n").unwrap();
    std::fs::write(&b, "heuristic = \"synch\"\n").unwrap();
    let shown = Program::untorn(&["spec", "show", &program.classes(), "--spec", &a]);
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("atomic  Forced.alsoTorn()V  (heuristic auto)"),
        "{shown}"
    );
    assert!(
        !shown.contains("Forced.torn()V") && !shown.contains("main"),
        "{shown}"
    );
    let both = Program::untorn(&["spec", "intersect", &a, &b]);
    let both_file = program.file("both.toml");
    std::fs::write(&both_file, &both.stdout).unwrap();
    let shown = Program::untorn(&[
        "spec",
        "show",
        &program.classes(),
        "--spec",
        &both_file,
        "--all",
    ]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("atomic  Forced.whole()V"), "{shown}");
    assert!(
        shown.contains("-       Forced.alsoTorn()V  (not in every specification)"),
        "{shown}"
    );
    assert!(
        shown.contains("-       Forced.torn()V  (excluded by Forced.torn)"),
        "{shown}"
    );
    std::fs::write(&b, "heuristic = 7\n").unwrap();
    let bad = Program::untorn(&["spec", "show", &program.classes(), "--spec", &b]);
    assert_eq!(bad.status.code(), Some(2));
}
