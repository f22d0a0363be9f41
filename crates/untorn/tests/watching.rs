//! `untorn run` and `untorn record` on a real program.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

// Linked in so that cargo builds the agent library first.
use untorn_agent as _;
use untorn_jdk::tool;

const PROGRAM: &str = r#"
public class Counter {
    private int value;

    synchronized int get() { return value; }

    synchronized void set(int next) { value = next; }

    /** Two steps: another thread can come between. */
    void torn() {
        int seen = get();
        Thread.yield();
        set(seen + 1);
    }

    synchronized void whole() { value++; }

    public static void main(String[] arguments) throws Exception {
        Counter counter = new Counter();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 200; k++) {
                    counter.torn();
                    counter.whole();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println("counted");
        System.err.println("to the other stream");
        System.exit(5);
    }
}

class Turns {
    /** Threads that never run at the same time tear nothing. */
    public static void main(String[] arguments) throws Exception {
        Counter counter = new Counter();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                for (int k = 0; k < 200; k++) counter.torn();
            });
            thread.start();
            thread.join();
        }
    }
}
"#;

fn classes() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let source = folder.path().join("Counter.java");
            fs::write(&source, PROGRAM).unwrap();
            let run = Command::new(tool("javac"))
                .arg("-d")
                .arg(folder.path())
                .arg(source)
                .output()
                .unwrap();
            assert!(run.status.success(), "{run:?}");
            folder
        })
        .path()
}

/// The agent's library, which cargo built for this test.
fn agent() -> PathBuf {
    let beside_this_test = std::env::current_exe().unwrap();
    beside_this_test.with_file_name("libuntorn_agent.so")
}

/// Runs untorn with options before `--` and the program after.
fn untorn(options: &[&str]) -> Output {
    untorn_on("Counter", options)
}

fn untorn_on(class: &str, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(options)
        .arg("--")
        .arg(tool("java"))
        .arg("-cp")
        .arg(classes())
        .arg(class)
        .env("UNTORN_AGENT", agent())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn run_reports_what_is_torn_and_nothing_else() {
    let run = untorn(&["run", "--format", "json"]);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let (program, report) = {
        let all = text(&run.stdout);
        let (first, rest) = all.split_once('\n').unwrap();
        (first.to_owned(), rest.to_owned())
    };
    assert_eq!(program, "counted");
    assert_eq!(
        text(&run.stderr),
        "to the other stream\nuntorn: note: the program ended with status 5\n"
    );
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let methods: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["region"]["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["torn"]);
}

/// The methods that are torn, and what doublechecker counted.
fn checked(class: &str, options: &[&str]) -> (Vec<String>, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("findings.json");
    let mut all = vec!["run", "-o", file.to_str().unwrap()];
    all.extend(options);
    let run = untorn_on(class, &all);
    let report = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{run:?}"));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let method =
        |finding: &serde_json::Value| finding["region"]["method"].as_str().map(str::to_owned);
    (
        findings.iter().filter_map(method).collect(),
        report["stats"]["doublechecker"].clone(),
    )
}

#[test]
fn doublechecker_alone_looks_only_at_what_may_lie_on_a_cycle() {
    let (torn, counted) = checked("Counter", &["--fast"]);
    assert_eq!(torn, ["torn"]);
    assert_eq!(counted["regular_transactions"], 1200);
    assert_eq!(counted["accesses_inside"], 2400);
    assert!(counted["sccs"].as_u64() > Some(0), "{counted}");
    assert!(counted["records_decoded"].as_u64() > Some(0), "{counted}");
    let (torn, counted) = checked("Turns", &["--fast"]);
    assert_eq!(torn, [""; 0]);
    assert_eq!(counted["regular_transactions"], 800);
    assert!(
        counted["records_scanned"].as_u64() > Some(2000),
        "{counted}"
    );
    assert_eq!(counted["records_decoded"], 0);
    // With others beside it everything is looked at, and the same is found.
    let (torn, counted) = checked("Counter", &["--with", "doublechecker,count"]);
    assert_eq!(torn, ["torn"]);
    assert_eq!(counted["records_decoded"], serde_json::Value::Null);
}

#[test]
fn the_exit_status_is_whose_it_was_asked_for() {
    let run = untorn(&["run", "--fast", "--exit-code", "program", "-q"]);
    assert_eq!(run.status.code(), Some(5), "{run:?}");
    // Nothing is found, but the program has failed.
    let run = untorn(&["run", "--exclude", "**", "-q"]);
    assert_eq!(run.status.code(), Some(5), "{run:?}");
    let said = text(&run.stderr);
    assert!(said.contains("the program ended with status 5"), "{said}");
    let run = untorn(&["run", "--fast", "--exit-zero", "-q"]);
    assert_eq!(run.status.code(), Some(5), "{run:?}");
    // Something is found, and that comes first.
    let run = untorn(&["run", "--fast", "-q"]);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let run = untorn(&["run", "--exclude", "**", "--exit-code", "untorn", "-q"]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert!(!text(&run.stderr).contains("ended with"), "{run:?}");
}

#[test]
fn a_program_that_a_signal_kills_is_not_green() {
    let run = Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(["run", "--exclude", "**", "-q", "--", "sh", "-c"])
        .arg("\"$1\" -cp \"$2\" Counter; kill -TERM $$")
        .arg("sh")
        .arg(tool("java"))
        .arg(classes())
        .env("UNTORN_AGENT", agent())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(128 + 15), "{run:?}");
    let said = text(&run.stderr);
    assert!(said.contains("the program ended with signal 15"), "{said}");
}

#[test]
fn a_recording_is_analyzed_as_the_run_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.utr");
    let run = untorn(&["record", "-o", trace.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(5), "{run:?}");
    assert_eq!(text(&run.stdout), "counted\n");
    assert_eq!(text(&run.stderr), "to the other stream\n");
    let analyzed = Command::new(env!("CARGO_BIN_EXE_untorn"))
        .arg("analyze")
        .arg(&trace)
        .output()
        .unwrap();
    assert_eq!(analyzed.status.code(), Some(1), "{analyzed:?}");
    assert!(text(&analyzed.stdout).contains("Counter.torn"));
}

#[test]
fn what_cannot_be_watched_is_said() {
    let run = Command::new(env!("CARGO_BIN_EXE_untorn"))
        .args(["run", "--", "no-such-command-at-all"])
        .env("UNTORN_AGENT", env!("CARGO_BIN_EXE_untorn"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).starts_with("untorn: no-such-command-at-all: "));
}

#[test]
fn the_end_of_a_report_says_how_much_was_looked_at() {
    for options in [&["run", "--with", "velodrome"][..], &["run", "--fast"]] {
        let run = untorn_on("Turns", options);
        let said = text(&run.stdout);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        assert!(said.starts_with("nothing found"), "{said}");
        assert!(said.contains("1 region entered by 4 threads"), "{said}");
    }
    let said = text(&untorn_on("Turns", &["run"]).stdout);
    assert!(said.contains("; 1 object shared"), "{said}");
}

#[test]
fn what_nobody_looked_at_is_not_called_clean() {
    let run = untorn_on("Turns", &["run", "--exclude", "**"]);
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    assert!(out.starts_with("nothing was looked at\n"), "{out}");
    assert!(err.contains("--exclude"), "{err}");
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    fs::write(&spec, "heuristic = \"none\"\n").unwrap();
    let run = untorn_on("Turns", &["run", "--spec", spec.to_str().unwrap()]);
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    assert!(out.starts_with("nothing was looked at\n"), "{out}");
    assert!(err.contains("heuristic = \"all-methods\""), "{err}");
    fs::write(&spec, "heuristic = \"none\"\ninclude = [\"**.whole\"]\n").unwrap();
    let run = untorn_on("Turns", &["run", "--spec", spec.to_str().unwrap()]);
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    assert!(out.starts_with("nothing was looked at\n"), "{out}");
    assert!(err.contains("was entered"), "{err}");
}

#[test]
fn a_first_run_names_its_candidates_and_what_to_do_next() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("one.prof");
    let profile = profile.to_str().unwrap();
    let run = untorn(&["run", "--mode", "first", "--profile", profile]);
    let said = text(&run.stdout);
    assert!(!said.contains("nothing found"), "{said}");
    assert!(said.contains("may be torn:\n  Counter.torn\n"), "{said}");
    let next = format!("untorn run --mode second --profile {profile} -- ");
    assert!(said.contains(&next), "{said}");
}

#[test]
fn findings_are_about_the_code_of_whoever_runs_it() {
    // To somebody whose main class is elsewhere, Counter is the code of others.
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Main.java");
    fs::write(
        &source,
        "package shop.app; public class Main { public static void main(String[] a) throws Exception { Class.forName(\"Counter\").getMethod(\"main\", String[].class).invoke(null, (Object) a); } }",
    )
    .unwrap();
    let compiled = Command::new(tool("javac"))
        .args(["-d", folder.path().to_str().unwrap()])
        .arg(&source)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let library = folder.path().join("library.jar");
    let packed = Command::new(tool("jar"))
        .args(["cf", library.to_str().unwrap(), "-C"])
        .arg(classes())
        .arg(".")
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    let run = |options: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_untorn"))
            .args(["run", "-q", "--exit-code", "untorn"])
            .args(options)
            .arg("--")
            .arg(tool("java"))
            .arg("-cp")
            .arg(format!("{}:{}", folder.path().display(), library.display()))
            .arg("shop.app.Main")
            .env("UNTORN_AGENT", agent())
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let own = run(&[]);
    assert_eq!(own.status.code(), Some(0), "{own:?}");
    let said = text(&own.stderr);
    assert!(said.contains("code of others"), "{said}");
    assert!(said.contains("--all-code"), "{said}");
    for options in [&["--all-code"][..], &["--include", "**"]] {
        assert_eq!(run(options).status.code(), Some(1), "{options:?}");
    }
}

#[test]
fn who_asks_for_a_class_of_the_platform_hears_that_its_fields_are_not_watched() {
    for pattern in ["java.util.**", "java.util.HashMap", "jdk.internal.**"] {
        let said = text(&untorn(&["run", "--include", pattern]).stderr);
        let note = format!("note: --include {pattern}: fields of the platform's own classes");
        assert!(said.contains(&note), "{said}");
    }
    let said = text(&untorn(&["run", "--include", "Counter"]).stderr);
    assert!(!said.contains("note: --include"), "{said}");
}
