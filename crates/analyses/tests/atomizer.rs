//! What the Atomizer says of small traces: the scenarios of paper 000.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod script;

use script::{analyze, analyze_events, parse, regions, with_class};
use untorn_analyses::Outcome;
use untorn_analyses::assumptions::{Assumptions, Guard, Pattern};
use untorn_analyses::atomizer::{Ablation, Atomizer, Mode, Options, Refinements};
use untorn_findings::Kind;
use untorn_model::{AccessFlags, Op};

fn atomizer(script: &str) -> Outcome {
    with(script, Options::default())
}

fn with(script: &str, options: Options) -> Outcome {
    analyze(script, Atomizer::new(options))
}

fn in_mode(script: &str, mode: Mode) -> Outcome {
    let options = Options {
        mode,
        ..Options::default()
    };
    with(script, options)
}

const NOTHING: [&str; 0] = [];

/// Makes locks and fields shared between threads in earnest: each is used by A, B and A again.
const SHARED: &str = "A: acq(sb) w(sb.count) w(sb.chars) rel(sb)
B: acq(sb) w(sb.count) w(sb.chars) rel(sb)
A: acq(sb) w(sb.count) w(sb.chars) rel(sb)
";

#[test]
fn appending_a_buffer_that_others_may_shorten_is_reported_with_three_stacks() {
    let append = "B: enter(main)
         B: begin(append) acq(self) enter(length) acq(sb) r(sb.count) rel(sb) exit(length)
         B: enter(getChars) acq(sb) r(sb.chars) rel(sb) exit(getChars)
         B: w(self.count) rel(self) end(append) exit(main)\n";
    let outcome = atomizer(&(SHARED.to_owned() + append));
    assert_eq!(regions(&outcome), ["append"]);
    let finding = &outcome.findings[0];
    assert_eq!(finding.kind, Kind::Reduction);
    assert_eq!(
        finding.message,
        "append is not atomic: it gives up lock sb at S.java:19 and then takes lock sb at S.java:22; \
         another thread can run in between"
    );
    let reduction = &finding.evidence.reductions[0];
    let told = |step: &untorn_findings::Step| {
        let stack: Vec<String> = (step.stack.iter())
            .map(|place| match (&place.method, place.line) {
                (Some(method), Some(line)) => format!("{method}:{line}"),
                (_, line) => format!("{}", line.unwrap()),
            })
            .collect();
        format!("{} {} [{}]", step.op, step.target, stack.join(" "))
    };
    assert_eq!(told(&reduction.entry), "begin append [append:14 main:13]");
    assert_eq!(
        told(&reduction.commit),
        "release sb [length:19 append:14 main:13]"
    );
    assert_eq!(
        told(&reduction.violation),
        "acquire sb [getChars:22 append:14 main:13]"
    );
    assert_eq!(reduction.violation.locks, ["sb", "self"]);
}

#[test]
fn later_executions_of_a_reported_block_count() {
    let twice = "B: begin(r) acq(sb) rel(sb) acq(sb) rel(sb) acq(sb) rel(sb) end(r)\n".repeat(3);
    let outcome = atomizer(&(SHARED.to_owned() + &twice));
    assert_eq!(regions(&outcome), ["r"]);
    assert_eq!(outcome.findings[0].occurrences, 3);
    assert_eq!(outcome.stats["atomizer"]["executions_violated"], 3);
}

#[test]
fn every_block_that_has_committed_is_reported_and_no_other() {
    let outcome = atomizer(
        &(SHARED.to_owned()
            + "B: begin(outer) begin(first) acq(sb) rel(sb) end(first)
               B: begin(second) acq(sb) rel(sb) begin(third) acq(sb) end(third) rel(sb)
               B: end(second) end(outer)\n"),
    );
    // The second block takes the lock after the first gave it up: that violates the outer one only.
    assert_eq!(regions(&outcome), ["outer", "second"]);
}

/// One thread increments under a lock, others read without.
const READ_AND_INC: &str = "A: begin(inc) acq(m) r(x) w(x) rel(m) end(inc)
B: begin(inc) acq(m) r(x) w(x) rel(m) end(inc)
A: begin(inc) acq(m) r(x) w(x) rel(m) end(inc)
B: begin(read) r(x) end(read)
A: begin(inc) acq(m) r(x) w(x) rel(m) end(inc)
B: begin(read) r(x) end(read)\n";

#[test]
fn reading_what_is_written_under_a_lock_is_atomic_and_so_is_the_writer() {
    assert_eq!(regions(&in_mode(READ_AND_INC, Mode::Full)), NOTHING);
    assert_eq!(regions(&in_mode(READ_AND_INC, Mode::Relaxed)), ["inc"]);
    let stats = &atomizer(READ_AND_INC).stats["atomizer"];
    assert_eq!(stats["racy_fields_without_harm"][0], "x");
    assert_eq!(stats["locks"], 1);
    assert_eq!(stats["most_locks_held"], 1);
    // From all locks to {m} for both sets, then to none for accesses.
    assert_eq!(stats["lockset_pairs"], 2);
}

#[test]
fn a_wide_field_read_without_a_lock_tears_reader_and_writer() {
    let (tables, events) = parse(READ_AND_INC);
    let analyzed = |flags: AccessFlags| {
        let mut wide = events.clone();
        for event in &mut wide {
            event.op = match event.op {
                Op::Read(_, var) => Op::Read(flags, var),
                Op::Write(_, var) => Op::Write(flags, var),
                other => other,
            };
        }
        analyze_events((tables.clone(), wide), Atomizer::new(Options::default()))
    };
    let outcome = analyzed(AccessFlags::WIDE);
    assert_eq!(regions(&outcome), ["read", "inc"]);
    assert!(outcome.findings[0].message.contains("takes two steps"));
    let reduction = &outcome.findings[0].evidence.reductions[0];
    assert_eq!(reduction.commit.event, reduction.violation.event);
    assert_eq!(regions(&analyzed(AccessFlags::VOLATILE)), NOTHING);
}

/// While A doubles x under m, B writes it without: A's first access was taken for protected.
const DOUBLING: &str = "A: acq(m) w(x) rel(m)
B: acq(m) w(x) rel(m)
A: acq(m) w(x) rel(m)
A: begin(doubleIt) acq(m) r(x)
B: w(x)
A: w(x) rel(m) end(doubleIt)\n";

#[test]
fn doubling_is_missed_once_by_the_relaxed_rules_and_never_by_the_strict_ones() {
    assert_eq!(regions(&in_mode(DOUBLING, Mode::Relaxed)), NOTHING);
    let strict = in_mode(DOUBLING, Mode::Strict);
    // B's write, outside of all blocks, and A's second access.
    assert_eq!(regions(&strict), ["doubleIt", "x"]);
    assert_eq!(strict.findings[1].kind, Kind::Race);
    let again = "A: begin(doubleIt) acq(m) r(x) w(x) rel(m) end(doubleIt)\n";
    let twice = DOUBLING.to_owned() + again;
    assert_eq!(regions(&in_mode(&twice, Mode::Relaxed)), ["doubleIt"]);
}

#[test]
fn declared_guards_are_the_law() {
    let declared = |script: &str| {
        let assumptions = Assumptions {
            guards: vec![("x".into(), Guard::Named(Pattern::new("m")))],
            ..Assumptions::default()
        };
        let options = Options {
            mode: Mode::Declared,
            assumptions,
            ..Options::default()
        };
        with(script, options)
    };
    let script = |body: &str| format!("A: w(x) w(y)\nB: w(x) w(y)\nA: begin(r) {body} end(r)\n");
    assert_eq!(
        regions(&declared(&script("acq(m) r(x) w(x) rel(m)"))),
        NOTHING
    );
    // One access of what has no guard is one step.
    assert_eq!(
        regions(&declared(&script("acq(m) w(x) w(y) rel(m)"))),
        NOTHING
    );
    assert_eq!(
        regions(&declared(&script("acq(m) w(y) w(y) rel(m)"))),
        ["r"]
    );
    let outcome = declared(&script("acq(other) w(x) rel(other)"));
    assert_eq!(regions(&outcome), ["r"]);
    assert!(outcome.findings[0].message.contains("discipline forbids"));
}

#[test]
fn a_field_guarded_by_this_needs_the_monitor_of_its_own_object() {
    let declared = |lock: &str| {
        let script = format!(
            "A: acq(p) rel(p) acq(q) rel(q) w(p.n)\nB: w(p.n)
             A: begin(inc) acq({lock}) r(p.n) w(p.n) rel({lock}) w(q.n) end(inc)\n"
        );
        let options = Options {
            mode: Mode::Declared,
            assumptions: Assumptions {
                guards: vec![("Counter.n".into(), Guard::This)],
                ..Assumptions::default()
            },
            ..Options::default()
        };
        regions(&analyze_events(
            with_class(&script, "Counter"),
            Atomizer::new(options),
        ))
    };
    assert_eq!(declared("p"), NOTHING);
    assert_eq!(declared("q"), ["inc"]);
}

fn ablated(script: &str) -> Vec<(String, u64)> {
    let outcome = analyze(script, Ablation::new(&Options::default()));
    (outcome.stats["ablation"].as_array().unwrap().iter())
        .map(|row| {
            let added = row["refinements"].as_str().unwrap().to_owned();
            (added, row["regions reported"].as_u64().unwrap())
        })
        .collect()
}

/// Checks that the warnings end with one refinement and not before.
fn removed_by(refinement: &str, script: &str) {
    let rows = ablated(script);
    let at = (rows.iter()).position(|(added, _)| added.trim_start_matches("+ ") == refinement);
    let (before, after) = rows.split_at(at.unwrap());
    assert!(before.iter().all(|(_, regions)| *regions == 1), "{rows:?}");
    assert!(after.iter().all(|(_, regions)| *regions == 0), "{rows:?}");
}

#[test]
fn each_refinement_removes_its_false_alarm() {
    removed_by(
        "reentrant locks",
        &(SHARED.to_owned()
            + "A: begin(r) acq(sb) acq(sb) rel(sb) acq(sb) rel(sb) rel(sb) end(r)\n"),
    );
    removed_by(
        "thread-local locks",
        "A: begin(r) acq(m) rel(m) acq(m) rel(m) end(r)\n",
    );
    removed_by(
        "thread-local-2 locks",
        "A: acq(m) rel(m)
         B: begin(r) acq(m) rel(m) acq(m) rel(m) end(r)\n",
    );
    removed_by(
        "protected locks",
        "A: acq(m) acq(inner) rel(inner) rel(m)
         B: acq(m) acq(inner) rel(inner) rel(m)
         A: begin(r) acq(m) acq(inner) rel(inner) acq(inner) rel(inner) rel(m) end(r)\n",
    );
    removed_by("write-protected data", READ_AND_INC);
}

#[test]
fn the_table_counts_warnings_from_basic_to_everything() {
    let mut script = SHARED.to_owned();
    script.push_str("A: begin(a) acq(sb) acq(sb) rel(sb) acq(sb) rel(sb) rel(sb) end(a)\n");
    script.push_str("A: begin(b) acq(own) rel(own) acq(own) rel(own) end(b)\n");
    script.push_str("A: begin(c) acq(sb) rel(sb) acq(sb) rel(sb) end(c)\n");
    let rows: Vec<u64> = ablated(&script).into_iter().map(|row| row.1).collect();
    assert_eq!(rows, [3, 2, 1, 1, 1, 1]);
    let names: Vec<_> = Refinements::cumulative()
        .iter()
        .map(|step| step.0)
        .collect();
    assert_eq!(names[0], "none");
    assert_eq!(names.len(), rows.len());
}

#[test]
fn waiting_inside_a_region_tears_it() {
    let script = SHARED.to_owned() + "B: begin(r) acq(sb) wait(sb) wake(sb) rel(sb) end(r)\n";
    let outcome = atomizer(&script);
    assert_eq!(regions(&outcome), ["r"]);
    let reduction = &outcome.findings[0].evidence.reductions[0];
    assert_eq!(reduction.commit.op, "wait");
    assert_eq!(reduction.violation.op, "wake");
}

#[test]
fn a_shared_hold_protects_reads_and_not_writes() {
    let script = |body: &str| {
        format!(
            "A: acq(rw) w(x) rel(rw)
             B: acq(rw) w(x) rel(rw)
             A: acq(rw) w(x) rel(rw)
             B: begin(r) acqs(rw) {body} rels(rw) end(r)\n"
        )
    };
    assert_eq!(regions(&atomizer(&script("r(x) r(x)"))), NOTHING);
    assert_eq!(regions(&atomizer(&script("w(x) w(x)"))), ["r"]);
}

#[test]
fn a_volatile_flag_is_one_step_and_an_update_too() {
    let script = |body: &str| {
        format!(
            "A: vw(f) u(n)\nB: vw(f) u(n)\nA: begin(r) {body} end(r)\nB: vw(f) u(n)\nA: begin(r) {body} end(r)\n"
        )
    };
    assert_eq!(regions(&atomizer(&script("vr(f)"))), NOTHING);
    assert_eq!(regions(&atomizer(&script("u(n)"))), NOTHING);
    assert_eq!(regions(&atomizer(&script("vr(f) vw(f)"))), ["r"]);
    assert_eq!(regions(&atomizer(&script("u(n) u(n)"))), ["r"]);
}

#[test]
fn what_is_assumed_is_not_looked_at() {
    let script = SHARED.to_owned()
        + "B: begin(caller) begin(callee) acq(sb) rel(sb) acq(sb) rel(sb) end(callee) end(caller)\n";
    let assuming = |assumptions: Assumptions| {
        let options = Options {
            assumptions,
            ..Options::default()
        };
        regions(&with(&script, options))
    };
    assert_eq!(assuming(Assumptions::default()), ["caller", "callee"]);
    let callee: Vec<Pattern> = vec!["call*e".into()];
    let atomic = Assumptions {
        atomic: callee.clone(),
        ..Assumptions::default()
    };
    assert_eq!(assuming(atomic), NOTHING);
    let mover = Assumptions {
        mover: callee,
        ..Assumptions::default()
    };
    assert_eq!(assuming(mover), NOTHING);
    let no_warn = Assumptions {
        no_warn: vec!["S.java:17".into()],
        ..Assumptions::default()
    };
    // The second acquisition is line 17.
    assert_eq!(assuming(no_warn), NOTHING);
}

#[test]
fn an_assumed_atomic_call_is_one_step_that_cannot_be_moved() {
    let script = SHARED.to_owned()
        + "B: begin(r) begin(step) end(step) begin(step) end(step) end(r)
           B: begin(once) begin(step) end(step) end(once)\n";
    let options = Options {
        assumptions: Assumptions {
            atomic: vec!["step".into()],
            ..Assumptions::default()
        },
        ..Options::default()
    };
    let outcome = with(&script, options);
    assert_eq!(regions(&outcome), ["r"]);
    assert!(
        outcome.findings[0]
            .message
            .contains("calls step, which is assumed atomic")
    );
}

#[test]
fn a_field_that_is_handed_over_by_a_queue_can_be_assumed_guarded() {
    let script = "A: w(job)\nB: w(job)\nA: begin(r) w(job) w(job) end(r)\n";
    assert_eq!(regions(&atomizer(script)), ["r"]);
    let options = Options {
        assumptions: Assumptions {
            guarded: vec!["job".into()],
            ..Assumptions::default()
        },
        ..Options::default()
    };
    assert_eq!(regions(&with(script, options)), NOTHING);
}

/// One thread at a time has a permit: the semaphore protects as a lock does, until it admits two.
#[test]
fn a_semaphore_with_one_permit_is_a_lock() {
    let put = "await(S) r(x) w(x) sig(S)";
    let one = |thread: &str| format!("{thread}: begin(put) {put} end(put)\n");
    let name = |script: String| script.replace('S', "java.util.concurrent.Semaphore@1");
    let lock = name([one("A"), one("B"), one("A"), one("B")].concat());
    assert_eq!(regions(&atomizer(&lock)), NOTHING);
    // Two sections are two steps, as with locks.
    let twice = lock.clone() + &name(format!("A: begin(twice) {put} {put} end(twice)\n"));
    assert_eq!(regions(&atomizer(&twice)), ["twice"]);
    // Two threads have a permit at once.
    let pool = name("A: await(S) r(y)\nB: await(S) r(y) sig(S)\nA: sig(S)\n".to_owned());
    let unsafe_now = pool + &lock;
    assert_eq!(regions(&atomizer(&unsafe_now)), ["put"]);
}
