//! Findings about real class files, judged by their code.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use untorn_findings::{
    Document, Edge, EdgeKind, Evidence, Executions, Finding, Interleaving, Kind, Level, Place,
    Rank, Region, Step, Verdict,
};
use untorn_program::Assumptions;
use untorn_program::load::{ClassPath, JdkChoice, Limits};
use untorn_rank::{Code, rank};

/// Comments name the two ends of each method's tear.
const SOURCE: &str = r#"
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

class Cases {
    int n; int m; volatile Object value; volatile boolean stop;
    final AtomicInteger atomic = new AtomicInteger();
    final ConcurrentHashMap<String, Object> map = new ConcurrentHashMap<>();
    final StampedLock stamped = new StampedLock();
    void lostUpdate() {
        int was = n; // first lostUpdate
        n = was + 1; // second lostUpdate
    }
    int staleSum() {
        int was = n; // first staleSum
        return was + m; // second staleSum
    }
    void unusedRead() {
        Object seen = value; // first unusedRead
        int other = m; // second unusedRead
    }
    Object doubleCheck() {
        Object known = value; // first doubleCheck
        if (known == null) {
            synchronized (this) {
                known = value; // second doubleCheck
                if (known == null) {
                    value = known = new Object();
                }
            }
        }
        return known;
    }
    Object brokenDoubleCheck() {
        if (value == null) { // first brokenDoubleCheck
            synchronized (this) {
                value = new Object(); // second brokenDoubleCheck
            }
        }
        return value;
    }
    String readTwice() {
        if (value == null) { // first readTwice
            return "";
        }
        return String.valueOf(value); // second readTwice
    }
    void casLoop() {
        int now;
        do {
            now = atomic.get(); // first casLoop
        } while (!atomic.compareAndSet(now, now + 1)); // second casLoop
    }
    Object putIfAbsent(String key) {
        Object known = map.get(key); // first putIfAbsent
        if (known == null) {
            Object made = new Object();
            known = map.putIfAbsent(key, made); // second putIfAbsent
            if (known == null) {
                known = made;
            }
        }
        return known;
    }
    Object putLate(String key) {
        Object known = map.get(key); // first putLate
        if (known == null) {
            known = new Object();
            map.put(key, known); // second putLate
        }
        return known;
    }
    int optimistic() {
        long stamp = stamped.tryOptimisticRead();
        int a = n; // first optimistic
        int b = m; // second optimistic
        if (!stamped.validate(stamp)) {
            return 0;
        }
        return a + b;
    }
    final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    final java.util.Map<String, Object> plain = new java.util.TreeMap<>();
    final ConcurrentLinkedQueue<StringBuilder> pool = new ConcurrentLinkedQueue<>();
    final LongAdder sum = new LongAdder();
    static Cases only; Object log;
    Object get(String key) {
        both.readLock().lock();
        try {
            return plain.get(key); // inner get
        } finally {
            both.readLock().unlock();
        }
    }
    Object askedAgain(String key) {
        Object known = get(key); // calls get
        if (known != null) return known;
        both.writeLock().lock();
        try {
            known = plain.get(key); // second askedAgain
            if (known == null) {
                known = new Object();
                plain.put(key, known);
            }
            return known;
        } finally {
            both.writeLock().unlock();
        }
    }
    Object notAskedAgain(String key) {
        Object known = get(key); // calls get too
        both.writeLock().lock();
        try {
            if (plain.get(key) != null) { // second notAskedAgain
                return known;
            }
            return plain.put(key, key);
        } finally {
            both.writeLock().unlock();
        }
    }
    void pooled(int i) {
        StringBuilder one = pool.poll(); // first pooled
        one.setLength(0);
        one.append(i);
        pool.offer(one); // second pooled
    }
    final LongAdder parts = new LongAdder();
    long mean() { return sum.sum() / parts.sum(); }
    void twoSums(int a) {
        sum.add(a); // first twoSums
        parts.increment(); // second twoSums
    }
    void limited() {
        int now = left.incrementAndGet(); // first limited
        if (now > 3) stop = true; // second limited
    }
    void counted(int a, int b) {
        sum.add(a); // first counted
        sum.add(b); // second counted
    }
    final ConcurrentHashMap<String, Integer> words = new ConcurrentHashMap<>();
    void ensured(String word) {
        words.putIfAbsent(word, 0); // first ensured
        Integer was;
        do {
            was = words.get(word);
        } while (!words.replace(word, was, was + 1)); // second ensured
    }
    void bounded(String key) {
        if (map.size() < 10) { // first bounded
            map.put(key, key); // second bounded
        }
    }
    int numbered(String key) {
        int fresh = atomic.incrementAndGet(); // first numbered
        Object other = map.putIfAbsent(key, fresh); // second numbered
        return other != null ? (Integer) other : fresh;
    }
    final AtomicInteger left = new AtomicInteger(9);
    int seats() { return left.get() + atomic.get(); }
    void unnumbered() {
        left.decrementAndGet(); // first unnumbered
        atomic.incrementAndGet(); // second unnumbered
    }
    Object oneCall(String key) {
        return map.computeIfAbsent(key, k -> new Object()); // first oneCall // second oneCall
    }
    static Cases made() {
        synchronized (Cases.class) {
            if (only == null) only = new Cases(); // inner made
            return only;
        }
    }
    synchronized void told(Object what) { log = what; } // inner told
    static void strangers() {
        Cases made = made(); // calls made
        made.told("once"); // calls told
    }
    void moved() {
        long stamp = stamped.writeLock();
        n++; // first moved
        m--; // second moved
        stamped.unlockWrite(stamp);
    }
    void spin() {
        while (!stop) { // first spin // second spin
            Thread.onSpinWait();
        }
    }
    int available() { return n; } // inner available
    void take() { n--; } // inner take
    void lockedTwice() {
        int was;
        synchronized (map) {
            was = n; // first lockedTwice
        }
        synchronized (map) {
            n = was + 1; // second lockedTwice
        }
    }
    synchronized void lockedByThis() {
        int was = n; // first lockedByThis
        n = was + 1; // second lockedByThis
    }
    final java.util.concurrent.CopyOnWriteArrayList<Runnable> tasks = new java.util.concurrent.CopyOnWriteArrayList<>();
    java.util.function.Consumer<Object> listener;
    java.util.function.Supplier<Object> maker;
    Object publishedEarly() {
        Object known = value; // first publishedEarly
        if (known == null) {
            synchronized (this) {
                known = value; // second publishedEarly
                if (known == null) {
                    Runnable made = (Runnable) maker.get();
                    value = known = made;
                    listener.accept(made);
                }
            }
        }
        return known;
    }
    void lookBeforeWalk() {
        if (!tasks.isEmpty()) { // first lookBeforeWalk
            tasks.forEach(Runnable::run); // second lookBeforeWalk
        }
    }
    Object lookBeforeGet() {
        if (tasks.size() > 3) { // first lookBeforeGet
            return tasks.get(3); // second lookBeforeGet
        }
        return null;
    }
    void callsPutIfAbsent(String key) {
        putIfAbsent(key);
    }
    void callsLostUpdate() {
        lostUpdate();
    }
    void callsLostUpdateTwice() {
        lostUpdate(); // first callsLostUpdateTwice
        m = n; // second callsLostUpdateTwice
    }
    synchronized int locked() { return n; } // inner locked
    synchronized void set(int n) { this.n = n; } // inner set
    void handsOver(int by) {
        int sum = locked() + by;
        set(sum);
    }
    void fillsAll(Cases[] all) {
        for (Cases one : all) {
            one.set(1);
        }
    }
    boolean throughHelpers() {
        if (available() <= 0) { // calls available
            return false;
        }
        take(); // calls take
        return true;
    }
}
"#;

fn line_of(mark: &str) -> u32 {
    let at = SOURCE.lines().position(|line| {
        line.split("// ")
            .skip(1)
            .any(|comment| comment.trim() == mark)
    });
    at.unwrap_or_else(|| panic!("no line has {mark}")) as u32 + 1
}

/// The class, compiled anew, as the command line hands it over.
fn code(document: &Document) -> Code {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Cases.java");
    std::fs::write(&file, SOURCE).unwrap();
    let compiled = Command::new(untorn_jdk::tool("javac"))
        .arg(&file)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let path = ClassPath::open(
        &[],
        &[folder.path().to_owned()],
        &JdkChoice::None,
        None,
        Limits::default(),
        &mut Assumptions::default(),
    );
    Code::of(document, path.unwrap())
}

fn step(n: u32, thread: &str, op: &str, target: &str, method: &str, line: u32) -> Step {
    Step {
        n,
        thread: thread.to_owned(),
        event: None,
        op: op.to_owned(),
        target: target.to_owned(),
        place: Some(Place {
            class: Some("Cases".to_owned()),
            method: Some(method.to_owned()),
            file: Some("Cases.java".to_owned()),
            line: Some(line),
        }),
        within: None,
        transaction: None,
        locks: Vec::new(),
        stack: Vec::new(),
    }
}

/// A region torn between two steps by another thread's write.
fn torn(method: &str, first: Step, second: Step) -> Finding {
    let edge = |from, to| Edge {
        from,
        to,
        kind: EdgeKind::Data,
        approximate: false,
    };
    let between = step(2, "other", "write", &second.target, "elsewhere", 1);
    let order = Interleaving {
        analysis: "velodrome".to_owned(),
        transactions: Vec::new(),
        steps: vec![first, between, second],
        edges: vec![edge(1, 2), edge(2, 3)],
        torn: Some((1, 3)),
    };
    let region = Region {
        class: Some("Cases".to_owned()),
        file: Some("Cases.java".to_owned()),
        ..Region::labelled(method)
    };
    let evidence = Evidence {
        interleavings: vec![order],
        ..Evidence::default()
    };
    Finding::new(
        "velodrome",
        Kind::Torn,
        Verdict::Observed,
        region,
        String::new(),
        evidence,
    )
}

fn judged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut document = Document::new(Vec::new());
    document.findings = findings;
    let code = code(&document);
    rank(&mut document, &code);
    document.findings
}

fn case(method: &str, (op, target): (&str, &str), (op2, target2): (&str, &str)) -> Finding {
    let first = step(
        1,
        "one",
        op,
        target,
        method,
        line_of(&format!("first {method}")),
    );
    let second = step(
        3,
        "one",
        op2,
        target2,
        method,
        line_of(&format!("second {method}")),
    );
    torn(method, first, second)
}

fn of<'a>(all: &'a [Finding], method: &str) -> &'a Rank {
    let finding = all.iter().find(|finding| finding.region.method == method);
    finding.unwrap().rank.as_ref().unwrap()
}

#[test]
fn stale_values_are_high_and_idioms_are_low_and_named() {
    let (n, m, value) = ("Cases@1.n", "Cases@1.m", "Cases@1.value");
    let atomic = "java.util.concurrent.atomic.AtomicInteger@2[*]";
    let map = r#"java.util.concurrent.ConcurrentHashMap@3["k"]"#;
    let all = judged(vec![
        case("lostUpdate", ("read", n), ("write", n)),
        case("staleSum", ("read", n), ("read", m)),
        case("unusedRead", ("volatile read", value), ("read", m)),
        case(
            "doubleCheck",
            ("volatile read", value),
            ("volatile read", value),
        ),
        case(
            "brokenDoubleCheck",
            ("volatile read", value),
            ("volatile write", value),
        ),
        case(
            "readTwice",
            ("volatile read", value),
            ("volatile read", value),
        ),
        case(
            "casLoop",
            ("volatile read", atomic),
            ("volatile update", atomic),
        ),
        case(
            "putIfAbsent",
            ("volatile read", map),
            ("volatile update", map),
        ),
        case("putLate", ("volatile read", map), ("volatile write", map)),
        case("optimistic", ("read", n), ("read", m)),
        case(
            "spin",
            ("volatile read", "Cases@1.stop"),
            ("volatile read", "Cases@1.stop"),
        ),
    ]);
    let level = |method| of(&all, method).level;
    for method in ["lostUpdate", "staleSum", "brokenDoubleCheck", "putLate"] {
        assert_eq!(
            level(method),
            Level::High,
            "{method}: {:?}",
            of(&all, method)
        );
    }
    assert!(
        level("readTwice") > Level::Low,
        "{:?}",
        of(&all, "readTwice")
    );
    assert_eq!(
        level("unusedRead"),
        Level::Low,
        "{:?}",
        of(&all, "unusedRead")
    );
    for (method, idiom) in [
        ("doubleCheck", "double-checked locking"),
        ("casLoop", "compareAndSet loop"),
        ("putIfAbsent", "conditional update after a look"),
        ("optimistic", "validated optimistic read"),
        ("spin", "wait for a value"),
    ] {
        let rank = of(&all, method);
        assert_eq!(rank.level, Level::Low, "{method}: {rank:?}");
        assert_eq!(rank.idiom.as_deref(), Some(idiom), "{method}");
    }
    // What deserves a look most comes first.
    let levels: Vec<Level> = all.iter().map(Finding::level).collect();
    assert!(levels.is_sorted_by(|a, b| a >= b));
}

/// A finding whose ends lie in what the region calls.
fn between_calls(method: &str, (op, target, inner): (&str, &str, &str), second: Step) -> Finding {
    let line = line_of(&format!("inner {inner}"));
    torn(method, step(1, "one", op, target, inner, line), second)
}

#[test]
fn what_is_asked_again_taken_out_added_or_made_by_one_call_is_low() {
    let plain = r#"java.util.TreeMap@4["k"]"#;
    let queue = "java.util.concurrent.ConcurrentLinkedQueue@5.size";
    let sum = "java.util.concurrent.atomic.LongAdder@6[*]";
    let (size, key) = (
        "java.util.concurrent.ConcurrentHashMap@3.size",
        r#"java.util.concurrent.ConcurrentHashMap@3["k"]"#,
    );
    let again = |method: &str| {
        let line = line_of(&format!("second {method}"));
        step(3, "one", "read", plain, method, line)
    };
    let told = step(
        3,
        "one",
        "write",
        "Cases@1.log",
        "told",
        line_of("inner told"),
    );
    let all = judged(vec![
        between_calls("askedAgain", ("read", plain, "get"), again("askedAgain")),
        between_calls(
            "notAskedAgain",
            ("read", plain, "get"),
            again("notAskedAgain"),
        ),
        case(
            "pooled",
            ("volatile update", queue),
            ("volatile update", queue),
        ),
        case(
            "counted",
            ("volatile update", sum),
            ("volatile update", sum),
        ),
        case("oneCall", ("update", size), ("update", key)),
        case(
            "limited",
            (
                "volatile update",
                "java.util.concurrent.atomic.AtomicInteger@7.value",
            ),
            ("volatile write", "Cases@1.stop"),
        ),
        case(
            "twoSums",
            ("volatile update", sum),
            (
                "volatile update",
                "java.util.concurrent.atomic.LongAdder@8[*]",
            ),
        ),
        case(
            "ensured",
            ("volatile update", key),
            ("volatile update", key),
        ),
        case(
            "numbered",
            (
                "volatile update",
                "java.util.concurrent.atomic.AtomicInteger@2.value",
            ),
            ("update", key),
        ),
        case(
            "unnumbered",
            (
                "volatile update",
                "java.util.concurrent.atomic.AtomicInteger@7.value",
            ),
            (
                "volatile update",
                "java.util.concurrent.atomic.AtomicInteger@2.value",
            ),
        ),
        between_calls("strangers", ("write", "Cases.only", "made"), told),
    ]);
    for (method, idiom) in [
        ("askedAgain", Some("double-checked locking")),
        ("pooled", Some("taking out and giving back")),
        ("counted", Some("additions to a sum")),
        ("oneCall", Some("one call of a concurrent collection")),
        ("ensured", Some("made if missing")),
        ("numbered", Some("a number of its own")),
        ("strangers", None),
    ] {
        let rank = of(&all, method);
        assert_eq!(rank.level, Level::Low, "{method}: {rank:?}");
        assert_eq!(rank.idiom.as_deref(), idiom, "{method}");
    }
    for method in ["notAskedAgain", "unnumbered", "limited", "twoSums"] {
        let rank = of(&all, method);
        assert!(rank.level > Level::Low, "{method}: {rank:?}");
    }
}

#[test]
fn a_double_check_that_publishes_too_early_is_no_idiom() {
    let value = ("volatile read", "Cases@1.value");
    let all = judged(vec![case("publishedEarly", value, value)]);
    let rank = of(&all, "publishedEarly");
    assert_eq!(rank.level, Level::High, "{rank:?}");
    assert!(rank.reasons[0].contains("still worked on"), "{rank:?}");
}

#[test]
fn a_look_before_a_walk_is_an_idiom_and_one_before_an_access_by_index_is_not() {
    let size = ("read", "java.util.concurrent.CopyOnWriteArrayList@4.size");
    let element = ("read", "java.util.concurrent.CopyOnWriteArrayList@4[3]");
    let all = judged(vec![
        case("lookBeforeWalk", size, size),
        case("lookBeforeGet", size, element),
    ]);
    let walk = of(&all, "lookBeforeWalk");
    assert_eq!(
        walk.idiom.as_deref(),
        Some("look before a walk"),
        "{walk:?}"
    );
    let get = of(&all, "lookBeforeGet");
    assert!(get.level > Level::Low && get.idiom.is_none(), "{get:?}");
}

/// As [`case`], of a region that calls the method in which both ends lie.
fn called(region: &str, method: &str, one: (&str, &str), other: (&str, &str)) -> Finding {
    let mut finding = case(method, one, other);
    region.clone_into(&mut finding.region.method);
    finding
}

#[test]
fn an_idiom_in_a_callee_is_one_of_its_mere_caller() {
    let map = r#"java.util.concurrent.ConcurrentHashMap@3["k"]"#;
    let (read, update) = (("volatile read", map), ("volatile update", map));
    let all = judged(vec![called(
        "callsPutIfAbsent",
        "putIfAbsent",
        read,
        update,
    )]);
    let rank = of(&all, "callsPutIfAbsent");
    assert_eq!(
        rank.idiom.as_deref(),
        Some("conditional update after a look"),
        "{rank:?}"
    );
}

#[test]
fn a_caller_of_what_is_torn_is_left_to_the_finding_of_that() {
    let n = "Cases@1.n";
    let (read, write) = (("read", n), ("write", n));
    let caller = || called("callsLostUpdate", "lostUpdate", read, write);
    let both = judged(vec![caller(), case("lostUpdate", read, write)]);
    assert_eq!(of(&both, "lostUpdate").level, Level::High);
    let rank = of(&both, "callsLostUpdate");
    assert_eq!(rank.level, Level::Low, "{rank:?}");
    assert!(rank.reasons[0].contains("Cases.lostUpdate"), "{rank:?}");
    // Alone it is all that is known.
    let alone = judged(vec![caller()]);
    assert_eq!(of(&alone, "callsLostUpdate").level, Level::High);
    // Another way to tear it is its own.
    let mut own = case("callsLostUpdateTwice", read, ("write", "Cases@1.m"));
    (own.evidence.interleavings).push(caller().evidence.interleavings.remove(0));
    let all = judged(vec![own, case("lostUpdate", read, write)]);
    assert!(of(&all, "callsLostUpdateTwice").level > Level::Low);
}

#[test]
fn what_is_learned_under_a_lock_and_handed_to_who_takes_it_again_is_stale() {
    let lock = "Cases@m1";
    let first = step(1, "one", "release", lock, "locked", line_of("inner locked"));
    let second = step(3, "one", "acquire", lock, "set", line_of("inner set"));
    let all = judged(vec![torn("handsOver", first, second)]);
    let rank = of(&all, "handsOver");
    assert!(rank.level > Level::Low, "{rank:?}");
    assert!(
        rank.reasons.iter().any(|why| why.contains("stale")),
        "{rank:?}"
    );
}

#[test]
fn a_loop_over_whole_steps_is_hardly_meant_to_be_one() {
    let write = |n, target| step(n, "one", "write", target, "set", line_of("inner set"));
    let (first, second) = (write(1, "Cases@1.n"), write(3, "Cases@2.n"));
    let all = judged(vec![torn("fillsAll", first, second)]);
    assert_eq!(
        of(&all, "fillsAll").level,
        Level::Low,
        "{:?}",
        of(&all, "fillsAll")
    );
}

#[test]
fn writes_that_only_validated_reads_come_between_are_low() {
    let (n, m) = ("Cases@1.n", "Cases@1.m");
    let order = |reader: &str| {
        let mut finding = case("moved", ("write", n), ("write", m));
        let line = line_of("first optimistic");
        finding.evidence.interleavings[0].steps[1] = step(2, "other", "read", n, reader, line);
        of(&judged(vec![finding]), "moved").clone()
    };
    let validated = order("optimistic");
    assert_eq!(validated.level, Level::Low, "{validated:?}");
    let idiom = Some("validated optimistic read elsewhere");
    assert_eq!(validated.idiom.as_deref(), idiom);
    let other = order("staleSum");
    assert!(other.level > Level::Low, "{other:?}");
}

#[test]
fn an_idiom_of_two_accesses_does_not_hide_another_tear_of_the_region() {
    let (size, key) = (
        "java.util.concurrent.ConcurrentHashMap@3.size",
        r#"java.util.concurrent.ConcurrentHashMap@3["k"]"#,
    );
    let line = |mark: &str| line_of(&format!("{mark} bounded"));
    let one_call = [("update", size), ("update", key)];
    let [first, second] = [0, 1].map(|at| {
        let (op, target) = one_call[at];
        step([1, 3][at], "one", op, target, "bounded", line("second"))
    });
    let mut finding = torn("bounded", first, second);
    let other = case("bounded", ("read", size), ("update", size));
    (finding.evidence.interleavings).extend(other.evidence.interleavings);
    let all = judged(vec![finding]);
    let rank = of(&all, "bounded");
    assert!(rank.level > Level::Low && rank.idiom.is_none(), "{rank:?}");
}

#[test]
fn the_order_that_says_most_decides_and_is_shown_first() {
    let (n, m) = ("Cases@1.n", "Cases@1.m");
    let mut finding = case("staleSum", ("read", n), ("read", m));
    let line = line_of("first staleSum");
    let again = [1, 3].map(|at| step(at, "one", "read", n, "staleSum", line));
    let [first, second] = again;
    let twice = torn("staleSum", first, second);
    let alone = judged(vec![twice.clone()]);
    let ways = [&twice, &finding].map(|one| one.evidence.interleavings[0].clone());
    finding.evidence.interleavings = ways.to_vec();
    let all = judged(vec![finding]);
    assert!(alone[0].level() < Level::High, "{:?}", alone[0].rank);
    assert_eq!(all[0].level(), Level::High, "{:?}", all[0].rank);
    assert_eq!(all[0].evidence.interleavings[0].steps[2].target, m);
}

#[test]
fn a_step_in_a_callee_is_shown_at_the_call_in_the_region() {
    let n = "Cases@1.n";
    let first = step(1, "one", "read", n, "available", line_of("inner available"));
    let second = step(3, "one", "write", n, "take", line_of("inner take"));
    let all = judged(vec![torn("throughHelpers", first, second)]);
    let steps = &all[0].evidence.interleavings[0].steps;
    let line = |step: &Step| step.within.as_ref().and_then(|place| place.line);
    assert_eq!(line(&steps[0]), Some(line_of("calls available")));
    assert_eq!(line(&steps[1]), None);
    assert_eq!(line(&steps[2]), Some(line_of("calls take")));
    assert_eq!(all[0].level(), Level::High, "{:?}", all[0].rank);
}

#[test]
fn locks_are_called_as_the_source_calls_them() {
    let n = "Cases@1.n";
    let map = "java.util.concurrent.ConcurrentHashMap@m3";
    let held = |method: &str, locks: &[&str]| {
        let mut finding = case(method, ("read", n), ("write", n));
        for at in [0, 2] {
            let step = &mut finding.evidence.interleavings[0].steps[at];
            step.locks = locks.iter().map(|&lock| lock.to_owned()).collect();
        }
        let all = judged(vec![finding]);
        all[0].evidence.interleavings[0].steps[0].locks.clone()
    };
    assert_eq!(held("lockedTwice", &[map]), [format!("map ({map})")]);
    assert_eq!(
        held("lockedTwice", &["Cases@m9", map]),
        ["Cases@m9".to_owned(), format!("map ({map})")]
    );
    assert_eq!(
        held("lockedByThis", &["Cases@m9"]),
        ["this (Cases@m9)".to_owned()]
    );
    // One of the two is the caller's, and nobody can say which.
    let two = ["Cases@m8", "Cases@m9"];
    assert_eq!(held("lockedByThis", &two), two);
}

#[test]
fn what_is_torn_in_most_executions_was_hardly_meant_to_be_whole() {
    let with = |torn, of| {
        let mut finding = case("staleSum", ("read", "Cases@1.n"), ("read", "Cases@1.m"));
        finding.executions = Some(Executions { torn, of });
        judged(vec![finding]).remove(0).level()
    };
    assert_eq!(with(2, 10_412), Level::High);
    assert!(with(900, 1000) < Level::High);
    assert_eq!(with(1, 1), Level::High);
}

#[test]
fn without_code_nothing_is_claimed_of_values() {
    let mut document = Document::new(Vec::new());
    document.findings = vec![case("lostUpdate", ("read", "x"), ("write", "x"))];
    rank(&mut document, &Code::default());
    let rank = document.findings[0].rank.clone().unwrap();
    assert!(
        !rank.reasons.iter().any(|why| why.contains("stale")),
        "{rank:?}"
    );
    assert_eq!(rank.level, Level::High);
}
