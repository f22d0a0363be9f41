//! A baseline keeps unchanged code silent, whatever the schedule.

#![allow(clippy::unwrap_used)]

mod program;

use program::Program;
use untorn_findings::Document;

/// Many ways to be torn, none of them forced.
const BANK: &str = r#"
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Bank {
    static class Account {
        private int balance = 1000;
        synchronized int get() { return balance; }
        synchronized void set(int value) { balance = value; }
        void add(int amount) { set(get() + amount); }
    }
    final Account a = new Account();
    final Account b = new Account();
    int transfers;
    final AtomicInteger audits = new AtomicInteger();
    final Map<String, Integer> log = new ConcurrentHashMap<>();

    void transfer(int amount) {
        a.add(-amount);
        b.add(amount);
        transfers++;
    }
    int total() {
        audits.set(audits.get() + 1);
        return a.get() + b.get();
    }
    void count(String key) {
        Integer old = log.get(key);
        log.put(key, old == null ? 1 : old + 1);
    }
    void work(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 400; i++) {
            switch (random.nextInt(3)) {
                case 0 -> transfer(random.nextInt(5));
                case 1 -> total();
                default -> count("k" + random.nextInt(4));
            }
            if (random.nextInt(20) == 0) { Thread.yield(); }
        }
    }
    public static void main(String[] args) throws InterruptedException {
        Bank bank = new Bank();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            long seed = System.nanoTime() + i;
            threads.add(new Thread(() -> bank.work(seed)));
        }
        for (Thread thread : threads) { thread.start(); }
        for (Thread thread : threads) { thread.join(); }
    }
}
"#;

const SPEC: &str = r#"
heuristic = "all-methods"
exclude = ["**.main", "**.work", "**.lambda$main$0"]
"#;

/// The names of the regions that a saved run found torn.
fn regions(file: &str) -> Vec<String> {
    let document = Document::from_json(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut names: Vec<String> = (document.findings.iter())
        .flat_map(|finding| {
            std::iter::once(&finding.region)
                .chain(&finding.group)
                .chain(&finding.affected)
        })
        .map(untorn_findings::Region::short_name)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn runs_of_unchanged_code_fail_only_for_a_region_that_was_never_seen_torn() {
    let runs = std::env::var("UNTORN_BASELINE_RUNS").map_or(3, |text| text.parse().unwrap());
    let program = Program::compile("Bank", BANK);
    let spec = program.file("spec.toml");
    std::fs::write(&spec, SPEC).unwrap();
    let saved: Vec<String> = (0..runs)
        .map(|run| {
            let file = program.file(&format!("run{run}.json"));
            let output = program.watched(&["run", "--spec", &spec, "--exit-zero", "-o", &file]);
            assert!(output.status.success(), "{output:?}");
            file
        })
        .collect();
    let mut failed = 0;
    for baseline in &saved {
        let known = regions(baseline);
        assert!(!known.is_empty(), "the program is torn in no run");
        for run in &saved {
            let output = Program::untorn(&["report", run, "--baseline", baseline]);
            let status = output.status.code();
            let new = regions(run).iter().any(|name| !known.contains(name));
            assert!(
                status == Some(0) || (status == Some(1) && new),
                "{output:?}"
            );
            failed += usize::from(status == Some(1));
        }
    }
    println!("{failed} of {} comparisons fail", runs * runs);
}
