//! Multi-run mode: what a first run logs and writes, and what a second one makes of it.

use super::program::Program;
use super::{findings, report, text};

/// Two threads take turns at one object: `torn` is divided by the other thread's writes, `whole` is not.
const TURNS: &str = r"
public class Turns {
    private int value;
    private int other;

    synchronized int get() { return value; }
    synchronized void set(int next) { value = next; }
    synchronized void whole() { other++; }

    void torn(int turn) {
        int seen = get();
        Wait.until(2 * turn);
        set(seen + 1);
    }

    public static void main(String[] arguments) throws Exception {
        Turns shared = new Turns();
        Turns own = new Turns();
        int turns = 20;
        Thread thread = new Thread(() -> {
            for (int turn = 1; turn <= turns; turn++) {
                Wait.reach(2 * turn - 1);
                shared.set(turn);
                Wait.step = 2 * turn;
            }
        });
        thread.start();
        for (int turn = 1; turn <= turns; turn++) {
            shared.torn(turn);
            for (int k = 0; k < 500; k++) own.whole();
        }
        thread.join();
    }
}

class Wait {
    static volatile int step;

    static void reach(int wanted) {
        long end = System.nanoTime() + 20_000_000_000L;
        while (step < wanted && System.nanoTime() < end) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException never) {
                return;
            }
        }
    }

    static void until(int wanted) {
        step = wanted - 1;
        reach(wanted);
    }
}
";

/// The other thread's turns are taken in a class that is not watched, so only the value orders them.
const UNWATCHED: [&str; 2] = ["--exclude", "Wait"];

fn run(program: &Program, options: &[&str]) -> std::process::Output {
    let mut all = vec!["run", "--format", "json", "--stats"];
    all.extend(UNWATCHED);
    all.extend(options);
    program.watched(&all)
}

#[test]
fn a_first_run_logs_next_to_nothing_and_a_second_one_what_was_chosen() {
    let program = Program::compile("Turns", TURNS);
    let profile = program.file("turns.prof");
    let single = run(&program, &["--with", "doublechecker"]);
    assert_eq!(findings(&single), ["torn torn observed"]);
    let first = run(&program, &["--mode", "first", "--profile", &profile]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let records = |run: &_| report(run)["stats"]["records"].as_u64().unwrap();
    let (all, few) = (records(&single), records(&first));
    assert!(few > 0 && few * 20 < all, "{few} of {all}");

    let second = run(&program, &["--mode", "second", "--profile", &profile]);
    assert_eq!(findings(&second), ["torn torn observed"]);
    assert!(!text(&second.stderr).contains("has changed"), "{second:?}");

    // Only `torn`: the many executions of `whole` leave no record.
    let chosen = std::fs::read_to_string(&profile).unwrap();
    assert!(chosen.contains("\ttorn\t"), "{chosen}");
    let narrow = program.file("narrow.prof");
    let others = chosen.lines().filter(|line| !line.contains("\twhole\t"));
    std::fs::write(&narrow, others.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let second = run(&program, &["--mode", "second", "--profile", &narrow]);
    assert_eq!(findings(&second), ["torn torn observed"]);
    let some = records(&second);
    assert!(some * 10 < all, "{some} of {all}");

    // Nothing was chosen, so nothing is touched.
    let empty = program.file("empty.prof");
    std::fs::write(&empty, "untorn-profile 1\n").unwrap();
    let second = run(&program, &["--mode", "second", "--profile", &empty]);
    assert_eq!(findings(&second), [""; 0]);
    assert!(report(&second)["stats"].get("classes rewritten").is_none());
}

#[test]
fn a_profile_of_another_version_is_noticed_and_its_class_looked_at_whole() {
    let program = Program::compile("Turns", TURNS);
    let profile = program.file("turns.prof");
    run(&program, &["--mode", "first", "--profile", &profile]);
    let newer = TURNS.replace("torn(", "renamed(");
    let program = Program::compile("Turns", &newer);
    let second = run(&program, &["--mode", "second", "--profile", &profile]);
    assert_eq!(findings(&second), ["renamed torn observed"]);
    let said = text(&second.stderr);
    assert!(
        said.contains("Turns has changed since the profile was made: all of its regions"),
        "{said}"
    );
    assert!(!said.contains("Wait has changed"), "{said}");
}

#[test]
fn the_jvms_of_one_first_run_make_one_profile() {
    let source = TURNS.replace(
        "Turns shared = new Turns();",
        r#"if (arguments.length == 0) {
            String java = System.getProperty("java.home") + "/bin/java";
            String classes = System.getProperty("java.class.path");
            new ProcessBuilder(java, "-cp", classes, "Turns", "child").start().waitFor();
            again();
            return;
        }
        Turns shared = new Turns();"#,
    );
    let source = source.replace(
        "    public static void main",
        r"    void parents(int turn) {
        int seen = get();
        Wait.until(2 * turn);
        set(seen + 1);
    }

    static void again() throws Exception {
        Turns shared = new Turns();
        Thread thread = new Thread(() -> {
            Wait.reach(1);
            shared.set(7);
            Wait.step = 2;
        });
        thread.start();
        shared.parents(1);
        thread.join();
    }

    public static void main",
    );
    let program = Program::compile("Turns", &source);
    let profile = program.file("both.prof");
    let first = run(&program, &["--mode", "first", "--profile", &profile]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let chosen = std::fs::read_to_string(&profile).unwrap();
    for method in ["\tparents\t", "\ttorn\t"] {
        assert!(chosen.contains(method), "{method} is not in {chosen}");
    }
    let merged = Program::untorn(&["profile", "merge", &profile, &profile]);
    assert_eq!(text(&merged.stdout), chosen);
}
