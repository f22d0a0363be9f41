//! `untorn check` on real class files, good and bad.

#![allow(clippy::unwrap_used)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

const ACCOUNT: &str = "
public class Account {
    private int balance;
    private Helper helper = new Helper();
    public synchronized int read() { return balance; }
    public void updateBad(int amount) {
        int before = read();
        synchronized (this) { balance = before + amount; }
    }
    public synchronized void addOk(int amount) { balance += helper.same(amount); }
    public static void main(String[] args) { new Account().updateBad(1); }
}
class Helper { int same(int value) { return value; } }
";

/// A folder with the classes of `Account.java`.
fn classes() -> &'static Path {
    static COMPILED: OnceLock<TempDir> = OnceLock::new();
    let folder = COMPILED.get_or_init(|| compiled("Account.java", ACCOUNT));
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| folder.path().join("classes"))
}

/// A folder in which `classes` holds what a source file says.
fn compiled(name: &str, text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join(name);
    fs::write(&source, text).unwrap();
    let done = Command::new(untorn_jdk::tool("javac"))
        .arg("-g")
        .arg("-d")
        .arg(folder.path().join("classes"))
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    folder
}

fn check(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_untorn"))
        .arg("check")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The one line of a refused input.
fn refusal(arguments: &[&str]) -> String {
    let output = check(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn a_library_is_checked_for_any_number_of_clients() {
    let output = check(&[text(classes())]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("suspected  high  Account.updateBad  Account.java:7"),
        "{said}"
    );
    assert!(!said.contains("Account.addOk  "), "{said}");
}

#[test]
fn an_application_is_checked_from_its_main_method() {
    let output = check(&[text(classes()), "--main", "Account"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "one thread only: {said}");
}

#[test]
fn json_goes_to_the_file_asked_for() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("findings.json");
    let output = check(&[
        text(classes()),
        "--with",
        "consistency",
        "--format",
        "json",
        "-o",
        text(&file),
        "--exit-zero",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let finding = &document["findings"][0];
    assert_eq!(finding["kind"], "method-inconsistency");
    assert_eq!(finding["verdict"], "suspected");
    assert_eq!(finding["region"]["method"], "updateBad");
    assert!(
        document["stats"]["consistency"]["lock views"]
            .as_u64()
            .unwrap()
            > 0
    );
    assert!(
        document["stats"]["program"]["classes checked"]
            .as_u64()
            .unwrap()
            == 2
    );
}

#[test]
fn a_class_of_the_jdk_needs_no_path() {
    let all = ["--show", "all", "--fail-on", "any"];
    let class = ["--jdk-class", "java.util.Hashtable", "--stats", "-q"];
    let output = check(&[&class[..], &all[..]].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Hashtable.forEach"), "{said}");
    assert!(said.contains("symbolic execution"), "{said}");
}

/// Constraints and clauses, time, annotations by kind for each thousand lines, and the shares that are proved.
#[test]
fn statistics_say_what_types_cost_and_prove() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("findings.json");
    let source = folder.path().join("src");
    fs::create_dir(&source).unwrap();
    let annotated = ACCOUNT
        .replace("int balance;", "int balance /*# guarded_by this */;")
        .replace(
            "public synchronized int",
            "/*# atomic */ public synchronized int",
        );
    fs::write(source.join("Account.java"), annotated).unwrap();
    let output = check(&[
        text(classes()),
        "--with",
        "types",
        "--source",
        text(&source),
        "--format",
        "json",
        "-o",
        text(&file),
        "--exit-zero",
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let stats = &document["stats"]["types"];
    for count in ["bodies", "constraints", "clauses", "components", "solved"] {
        assert!(stats[count].as_u64().unwrap() > 0, "{count}: {stats}");
    }
    for time in ["typing", "solving guards"] {
        assert!(!stats[time].is_null(), "{time}: {stats}");
    }
    // Thirteen lines of source; updateBad is not proved, but its block is.
    assert_eq!(stats["annotations (guard)"], "1 (76.9 per 1000 lines)");
    assert_eq!(stats["annotations (atomicity)"], "1 (76.9 per 1000 lines)");
    assert_eq!(stats["annotations (ghost)"], "0 (0.0 per 1000 lines)");
    assert_eq!(stats["annotations (escape)"], "0 (0.0 per 1000 lines)");
    assert_eq!(stats["annotations"], "2 (153.8 per 1000 lines)");
    assert_eq!(stats["methods proved"], "2 of 3");
    assert_eq!(stats["blocks proved"], "1 of 1");
}

#[test]
fn filters_can_be_switched() {
    let output = check(&[
        text(classes()),
        "--no-filter",
        "lowest,one-section,subordinate",
        "--show",
        "all",
        "-q",
    ]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("Account.addOk"), "{said}");
}

#[test]
fn a_missing_class_is_a_counted_assumption() {
    let folder = TempDir::new().unwrap();
    fs::copy(
        classes().join("Account.class"),
        folder.path().join("Account.class"),
    )
    .unwrap();
    let output = check(&[text(folder.path()), "--stats", "-q"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("missing class:"), "{said}");
    assert!(said.contains("Helper"), "{said}");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let folder = TempDir::new().unwrap();
    let bytes = fs::read(classes().join("Account.class")).unwrap();
    let truncated = folder.path().join("Account.class");
    fs::write(&truncated, &bytes[..bytes.len() / 2]).unwrap();
    let said = refusal(&[text(&truncated)]);
    assert!(
        said.contains("Account.class") && said.contains("offset"),
        "{said}"
    );
    let other = folder.path().join("Other.class");
    fs::write(&other, b"no class at all").unwrap();
    let said = refusal(&[text(&other)]);
    assert!(said.contains("Other.class"), "{said}");
    let said = refusal(&[text(&folder.path().join("nowhere.jar"))]);
    assert!(said.contains("nowhere.jar"), "{said}");
    let said = refusal(&[text(classes()), "--main", "Nobody"]);
    assert!(said.contains("Nobody"), "{said}");
    let said = refusal(&[text(classes()), "--main", "Helper"]);
    assert!(said.contains("no method main"), "{said}");
    let said = refusal(&["--jdk-class", "java.util.Nothing"]);
    assert!(said.contains("java.util.Nothing"), "{said}");
    let said = refusal(&[text(classes()), "--jdk", text(folder.path())]);
    assert!(said.contains("is no JDK"), "{said}");
    let said = refusal(&[text(classes()), "--spec", "nowhere.toml"]);
    assert!(said.contains("nowhere.toml"), "{said}");
}

#[test]
fn something_must_be_named() {
    let output = check(&[]);
    assert_eq!(output.status.code(), Some(2));
}

/// A saved document, with what the check is asked for besides.
fn document(arguments: &[&str]) -> serde_json::Value {
    let folder = TempDir::new().unwrap();
    let saved = folder.path().join("findings.json");
    let mut all = vec!["--exit-zero", "-o", text(&saved)];
    all.extend(arguments);
    let output = check(&all);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_str(&fs::read_to_string(&saved).unwrap()).unwrap()
}

#[test]
fn what_has_not_changed_is_not_analyzed_again() {
    let folder = TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    let program = folder.path().join("classes");
    fs::create_dir(&program).unwrap();
    for class in ["Account.class", "Helper.class"] {
        fs::copy(classes().join(class), program.join(class)).unwrap();
    }
    let arguments = [text(&program), "--cache", text(&cache)];
    let first = document(&arguments);
    // Times are measured anew if anything is done anew.
    assert_eq!(document(&arguments), first);
    let mut other = arguments.to_vec();
    other.push("--pure-values");
    assert_ne!(document(&other)["stats"], first["stats"]);
    fs::remove_file(program.join("Helper.class")).unwrap();
    assert_ne!(document(&arguments)["stats"], first["stats"]);
    fs::copy(classes().join("Helper.class"), program.join("Helper.class")).unwrap();
    assert_eq!(document(&arguments), first);
    let mut anew = vec![text(&program), "--no-cache"];
    assert_ne!(document(&anew)["stats"], first["stats"]);
    anew.extend(["--with", "types"]);
    assert_eq!(document(&anew)["proved"], first["proved"]);
}

#[test]
fn what_is_not_done_within_the_budget_is_not_claimed() {
    let cut = document(&[text(classes()), "--budget", "0", "--no-cache"]);
    assert_eq!(cut["proved"], serde_json::json!([]));
    assert_eq!(cut["findings"], serde_json::json!([]));
    let left_out = cut["stats"]["not done in time"].as_array().unwrap();
    assert!(!left_out.is_empty());
    let output = check(&[text(classes()), "--budget", "0", "--no-cache"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the budget was spent before"), "{said}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("nothing was looked at"), "{said}");
    assert_eq!(output.status.code(), Some(2), "{said}");
    let whole = document(&[text(classes()), "--budget", "3600", "--no-cache"]);
    assert!(whole["stats"].get("not done in time").is_none());
    assert_eq!(whole["proved"].as_array().unwrap().len(), 3);
}

#[test]
fn objects_told_apart_by_class_prove_nothing_else() {
    let precise = document(&[text(classes()), "--no-cache"]);
    let coarse = document(&[text(classes()), "--by-class", "--no-cache"]);
    assert_eq!(
        precise["stats"]["program"]["objects told apart by"],
        "place"
    );
    assert_eq!(coarse["stats"]["program"]["objects told apart by"], "class");
    let all = precise["proved"].as_array().unwrap();
    for proved in coarse["proved"].as_array().unwrap() {
        assert!(all.contains(proved), "{proved}");
    }
}

const WORKER: &str = "
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

public class Worker {
    private int sum;
    private final Gate gate = new Gate();
    private final Turn turn = new Turn();
    private final Ring ring = new Ring();
    public synchronized int read() { return sum; }
    public void plain(int amount) {
        int before = read();
        synchronized (this) { sum = before + amount; }
    }
    public void meets(int amount) {
        int before = read();
        gate.meet();
        synchronized (this) { sum = before + amount; }
    }
    public void spins(int amount) {
        int before = read();
        turn.waitFor(3);
        synchronized (this) { sum = before + amount; }
    }
    public void meetsFarAway(int amount) {
        int before = read();
        ring.step();
        synchronized (this) { sum = before + amount; }
    }
    public void calls(int amount) {
        int before = read();
        ring.count();
        synchronized (this) { sum = before + amount; }
    }
}
class Gate {
    private final CyclicBarrier barrier = new CyclicBarrier(2);
    void meet() {
        try { barrier.await(); } catch (InterruptedException | BrokenBarrierException e) { throw new IllegalStateException(e); }
    }
}
class Turn {
    volatile int turn;
    void waitFor(int me) { while (turn != me) Thread.onSpinWait(); }
}
class Ring {
    private final Gate gate = new Gate();
    private int count;
    void step() { gate.meet(); count(); }
    synchronized void count() { count++; notifyAll(); }
}
";

#[test]
fn what_waits_in_another_class_is_no_step_either() {
    let folder = compiled("Worker.java", WORKER);
    let classes = folder.path().join("classes");
    let document = document(&["--format", "json", text(&classes)]);
    let mut found: Vec<&str> = (document["findings"].as_array().unwrap().iter())
        .map(|finding| finding["region"]["method"].as_str().unwrap())
        .collect();
    found.sort_unstable();
    found.dedup();
    // Those that only call something are found, although what one of them calls tells waiting threads.
    assert_eq!(found, ["calls", "plain"]);
}

#[test]
fn classes_without_a_sign_of_threads_are_counted_in_one_line() {
    let output = check(&[text(classes()), "--no-cache"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("not written for threads: 1 class "), "{said}");
    // An application says itself which threads there are.
    let output = check(&[text(classes()), "--no-cache", "--main", "Account"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains("not written for threads"), "{said}");
}
