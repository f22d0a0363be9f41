//! Regions around threads of their own, and threads without regions.

use super::program::Program;
use super::{findings, report};

/// `parallel` starts a thread and awaits it; `torn` is divided by a thread that is there anyway.
const THREADS: &str = r#"
public class Threads {
    private int value;

    synchronized int get() { return value; }
    synchronized void set(int next) { value = next; }

    void parallel() {
        set(1);
        Thread child = new Thread(() -> set(get() + 1), "child");
        child.start();
        Wait.end(child);
        set(get() + 1);
    }

    void torn() {
        int seen = get();
        Wait.until(3);
        set(seen + 1);
    }

    public static void main(String[] arguments) throws Exception {
        Threads shared = new Threads();
        if (arguments[0].equals("parallel")) {
            shared.parallel();
            return;
        }
        Thread thread = new Thread(() -> {
            shared.set(3);
            Wait.step = 1;
            Wait.reach(2);
            shared.set(7);
            Wait.step = 3;
        }, "other");
        thread.start();
        Wait.reach(1);
        shared.torn();
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

    static void end(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException never) {
            throw new IllegalStateException(never);
        }
    }
}
"#;

#[test]
fn a_region_around_its_own_threads_is_listed_apart() {
    let program = Program::compile("Threads", THREADS);
    // By itself nobody takes a method that starts threads for one step.
    let spec = program.file("spec.toml");
    std::fs::write(&spec, "heuristic = \"all-methods\"\n").unwrap();
    for analysis in ["doublechecker", "velodrome", "aerodrome"] {
        let run = program.watched_with(
            &[
                "run",
                "--with",
                analysis,
                "--format",
                "json",
                "--exclude",
                "Wait",
                "--spec",
                &spec,
            ],
            &["parallel"],
        );
        let all = findings(&run);
        assert_eq!(all, ["parallel fork-join suspected"], "{analysis}");
        let evidence = &report(&run)["findings"][0]["evidence"]["interleavings"][0];
        let fork = (evidence["steps"].as_array().unwrap().iter())
            .find(|step| step["op"] == "fork")
            .unwrap();
        assert_eq!(fork["place"]["line"], 11, "where the thread is started");
    }
}

#[test]
fn threads_that_the_specification_leaves_out_have_no_regions() {
    let program = Program::compile("Threads", THREADS);
    let spec = program.file("spec.toml");
    for (excluded, expected) in [
        ("oth*", vec!["torn torn observed"]),
        ("ma*", Vec::<&str>::new()),
    ] {
        std::fs::write(&spec, format!("exclude-threads = [\"{excluded}\"]\n")).unwrap();
        let run = program.watched_with(
            &[
                "run",
                "--with",
                "doublechecker",
                "--format",
                "json",
                "--exclude",
                "Wait",
                "--spec",
                &spec,
            ],
            &["torn"],
        );
        assert_eq!(findings(&run), expected, "without {excluded}");
    }
}
