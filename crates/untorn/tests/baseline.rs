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

/// Tears of every sort, some of which only few schedules show, and with the defaults.
const MARKET: &str = r#"
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

public class Market {
    static class Stock {
        private final String name; private int pieces = 50; private long sold; volatile long changed;
        Stock(String name) { this.name = name; }
        synchronized int pieces() { return pieces; }
        synchronized void take(int n) { pieces -= n; sold += n; }
        boolean sell(int n) { if (pieces() < n) return false; take(n); changed = changed + 1; return true; }
        long[] report() { long s = sold; return new long[] { s, pieces }; }
    }
    static class Ledger {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private final Map<String, Long> entries = new HashMap<>();
        private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
        void book(String who, long amount) {
            long old;
            lock.readLock().lock(); try { old = entries.getOrDefault(who, 0L); } finally { lock.readLock().unlock(); }
            lock.writeLock().lock(); try { entries.put(who, old + amount); } finally { lock.writeLock().unlock(); }
            if (!lines.contains(who)) lines.add(who);
        }
        long sum() { long all = 0; lock.readLock().lock(); try { for (long v : entries.values()) all += v; } finally { lock.readLock().unlock(); } return all; }
        String last() { return lines.isEmpty() ? "" : lines.get(lines.size() - 1); }
    }
    static class Hub {
        static Hub it; final AtomicLong max = new AtomicLong(); final Queue<Stock> open = new ConcurrentLinkedQueue<>();
        static Hub get() { if (it == null) it = new Hub(); return it; }
        void see(long v) { if (v > max.get()) max.set(v); }
        Stock next() { return open.isEmpty() ? null : open.poll(); }
    }
    final Map<String, Stock> stocks = new ConcurrentHashMap<>(); final Ledger ledger = new Ledger(); int orders; Stock hot;
    Stock stock(String name) { Stock s = stocks.get(name); if (s == null) { s = new Stock(name); stocks.put(name, s); Hub.get().open.add(s); } return s; }
    void order(Random r) {
        String name = "s" + r.nextInt(5); Stock s = stock(name);
        if (s.sell(1 + r.nextInt(2))) { orders++; ledger.book("c" + r.nextInt(3), 5); Hub.get().see(orders); }
        if (hot == null || hot.pieces() < s.pieces()) hot = s;
    }
    void audit() { for (Stock s : stocks.values()) s.report(); ledger.sum(); ledger.last(); Hub.get().next(); }
    void work(long seed) {
        Random r = new Random(seed);
        for (int i = 0; i < 150; i++) { if (r.nextInt(6) == 0) audit(); else order(r); if (r.nextInt(9) == 0) Thread.yield(); if (r.nextInt(60) == 0) try { Thread.sleep(1); } catch (InterruptedException e) { } }
    }
    public static void main(String[] a) throws Exception {
        Market m = new Market(); ExecutorService e = Executors.newFixedThreadPool(3); List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) { long seed = System.nanoTime() + i; all.add(e.submit(() -> m.work(seed))); }
        for (Future<?> f : all) f.get(); e.shutdown();
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

/// Runs the program some times, and compares each run with each.
fn compare(program: &Program, options: &[&str]) {
    let runs = std::env::var("UNTORN_BASELINE_RUNS").map_or(3, |text| text.parse().unwrap());
    let saved: Vec<String> = (0..runs)
        .map(|run| {
            let file = program.file(&format!("run{run}.json"));
            let mut arguments = vec!["run", "--exit-zero", "-o", &file];
            arguments.extend(options);
            let output = program.watched(&arguments);
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

#[test]
fn runs_of_unchanged_code_fail_only_for_a_region_that_was_never_seen_torn() {
    let program = Program::compile("Bank", BANK);
    let spec = program.file("spec.toml");
    std::fs::write(&spec, SPEC).unwrap();
    compare(&program, &["--spec", &spec]);
}

#[test]
fn so_do_runs_with_the_defaults_in_which_tears_are_rare() {
    compare(&Program::compile("Market", MARKET), &[]);
}
