//! What velodrome and aerodrome say of known situations: the figures of the papers and the corners of the definitions, as traces of our own.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic, its helper functions too"
)]

use untorn_analyses::aerodrome::{self, Aerodrome};
use untorn_analyses::velodrome::{self, Velodrome};
use untorn_analyses::{Analysis, run};
use untorn_findings::{Finding, merge};
use untorn_model::{Class, ClassId, Event, Method, MethodId, Op};
use untorn_trace::{Source, VecSource};

/// One line a finding: kind, region, verdict, what encloses it, and the transactions of its path or cycle.
fn summary(finding: &Finding) -> String {
    let names = |regions: &[untorn_findings::Region]| {
        let names: Vec<String> = regions
            .iter()
            .map(untorn_findings::Region::short_name)
            .collect();
        names.join(",")
    };
    let interleaving = &finding.evidence.interleavings[0];
    let members: Vec<String> = (interleaving.transactions.iter())
        .map(|t| {
            let region = t
                .region
                .as_ref()
                .map_or("-".to_owned(), untorn_findings::Region::short_name);
            format!("{}:{region}", t.thread)
        })
        .collect();
    let mut line = format!(
        "{:?} {} {:?} by {}",
        finding.kind,
        finding.region.short_name(),
        finding.verdict,
        members.join(" ")
    );
    if !finding.group.is_empty() {
        line.push_str(&format!(" with {}", names(&finding.group)));
    }
    if !finding.evidence.enclosing.is_empty() {
        line.push_str(&format!(" in {}", names(&finding.evidence.enclosing)));
    }
    line
}

fn said(trace: &str, analysis: Box<dyn Analysis>) -> Vec<String> {
    let mut source = VecSource::from_text(&numbered(trace)).unwrap();
    let outcome = run(&mut source, &mut [analysis], &mut |_| {}).unwrap();
    merge(outcome.findings).iter().map(summary).collect()
}

/// Traces are written here one event a word, `thread:op`; a text trace has a line for each, with its number as the place.
fn numbered(trace: &str) -> String {
    (trace.split_ascii_whitespace().zip(1..))
        .map(|(event, n)| format!("{}|{n}\n", event.replace(':', "|")))
        .collect()
}

fn velodrome(trace: &str) -> Vec<String> {
    said(
        trace,
        Box::new(Velodrome::new(velodrome::Options::default())),
    )
}

fn aerodrome(trace: &str) -> Vec<String> {
    said(
        trace,
        Box::new(Aerodrome::new(aerodrome::Options::default())),
    )
}

fn check(trace: &str, expected: &[&str]) {
    assert_eq!(velodrome(trace), expected, "velodrome");
    assert_eq!(aerodrome(trace), expected, "aerodrome");
}

/// Paper 002, Figure 3: of seven threads only two transactions conflict precisely.
#[test]
fn of_an_imprecise_cycle_only_the_precise_part_is_reported() {
    let figure = |precise: &str| {
        format!(
            "T7:w(p.q) T6:r(p.q) T5:begin(tx5) T5:r(p.q) T5:end
             T1:begin(tx1) T1:w(o.f) T2:begin(tx2) T2:r(o.g) T2:end
             T3:begin(tx3) {precise} T3:end T4:begin(tx4) T4:r(o.h) T4:r(p.q) T4:end
             T1:w(o.f) T1:end"
        )
    };
    check(
        &figure("T3:r(o.f)"),
        &["Torn tx1 Observed by T1:tx1 T3:tx3"],
    );
    check(&figure(""), &[]);
}

/// Paper 002, Figure 2: ownership of two objects moves between six threads, in one direction only.
#[test]
fn ownership_that_moves_on_tears_nothing() {
    check(
        "T1:begin(a) T1:w(o) T1:end T2:begin(b) T2:r(o) T2:end T3:begin(c) T3:r(o) T3:end
         T4:begin(d) T4:r(o) T4:end T6:begin(e) T6:r(p) T6:end T5:begin(f) T5:r(p) T5:r(o) T5:end
         T1:begin(a) T1:w(o) T1:end",
        &[],
    );
}

/// Paper 002, section 3.2.3: the imprecise cycle is there early, the precise one only with the last read.
#[test]
fn a_cycle_is_there_when_its_last_conflict_is_and_not_before() {
    let before = "T1:begin(tx1) T1:w(o.f) T2:begin(tx2) T2:w(o.g) T2:w(p.x) T1:r(p.x) T1:end";
    check(&format!("{before} T2:end"), &[]);
    check(
        &format!("{before} T2:r(o.f) T2:end"),
        &["Cycle tx1 Suspected by T2:tx2 T1:tx1 with tx2"],
    );
    check(
        "T1:begin(tx1) T2:begin(tx2) T2:w(o.g) T2:w(p.x) T1:r(p.x) T1:w(o.f) T1:end T2:r(o.f) T2:end",
        &["Torn tx2 Observed by T2:tx2 T1:tx1"],
    );
}

#[test]
fn a_cycle_through_the_previous_transaction_of_a_thread_is_found() {
    check(
        "A:begin(a) A:w(x) B:begin(b1) B:r(x) B:end B:begin(b2) B:w(y) B:end A:r(y) A:end",
        &["Torn a Observed by A:a B:b1 B:b2"],
    );
    // Nobody is torn here, and the cycle needs the order of B's own transactions.
    check(
        "C:begin(c) B:begin(b1) C:w(x) A:begin(a) A:w(z) B:r(x) B:end B:begin(b2) B:w(y) B:end A:r(y) A:end C:r(z) C:end",
        &["Cycle a Suspected by C:c B:b1 B:b2 A:a with b1,b2,c"],
    );
}

#[test]
fn events_outside_of_regions_are_named_but_never_blamed() {
    check(
        "A:begin(a) A:r(x) B:w(x) B:r(z) C:w(z) A:w(x) A:end",
        &["Torn a Observed by A:a B:-"],
    );
    check("A:r(x) B:w(x) A:w(x)", &[]);
}

#[test]
fn the_innermost_region_is_blamed_and_the_others_are_listed() {
    check(
        "A:begin(outer) A:begin(middle) A:begin(inner) A:r(x) A:end B:w(x) A:w(x) A:end A:end",
        &["Torn middle Observed by A:outer B:- in outer"],
    );
}

#[test]
fn locks_alone_make_a_suspicion_and_threads_a_kind_of_their_own() {
    check(
        "A:begin(a) A:acq(m) A:rel(m) B:acq(m) B:rel(m) A:acq(m) A:rel(m) A:end",
        &["Torn a Suspected by A:a B:- B:-"],
    );
    check(
        "A:begin(a) A:fork(B) B:w(x) A:join(B) A:end",
        &["ForkJoin a Suspected by A:a B:-"],
    );
}

#[test]
fn threads_that_a_region_starts_and_awaits_do_not_tear_it() {
    // They share data with the region, and also with each other.
    check(
        "A:begin(a) A:w(x) A:fork(B) B:r(x) B:w(x) A:join(B) A:r(x) A:end",
        &["ForkJoin a Suspected by A:a B:- B:-"],
    );
    check(
        "A:begin(a) A:w(x) A:fork(B) A:fork(C) B:w(x) C:r(x) C:w(y) A:join(B) A:join(C) A:r(y) A:end",
        &["ForkJoin a Suspected by A:a B:-"],
    );
    // It does not wait for what it sees.
    check(
        "A:begin(a) A:fork(B) A:w(x) B:w(x) A:r(x) A:join(B) A:end",
        &["Torn a Observed by A:a B:-"],
    );
    // Somebody else is there too.
    check(
        "A:begin(a) A:w(x) A:w(z) A:fork(B) B:r(x) B:w(x) C:w(z) A:join(B) A:r(x) A:r(z) A:end",
        &["Torn a Observed by A:a C:-"],
    );
    // A thread that the region did not start.
    check(
        "A:fork(B) A:begin(a) A:w(x) B:r(x) B:w(x) A:join(B) A:r(x) A:end",
        &["Torn a Observed by A:a B:- B:-"],
    );
}

#[test]
fn a_region_is_observed_if_anybody_but_its_own_threads_tears_it() {
    // The way to the other thread leads over one of its own, which comes back earlier and on a shorter way.
    check(
        "A:begin(a) A:w(x) A:fork(B) B:r(x) B:w(x) B:w(y) C:r(y) C:w(z) A:join(B) A:r(x) A:r(z) A:end",
        &["Torn a Observed by A:a B:- B:- C:- C:-"],
    );
    // The other thread comes before its own.
    check(
        "A:begin(a) A:w(x) A:fork(B) C:r(x) C:w(y) B:r(y) B:w(z) A:join(B) A:r(z) A:end",
        &["Torn a Observed by A:a C:- C:- B:- B:-"],
    );
    // The inner region awaits a thread that the outer one started; for the outer one it is its own.
    let trace = "A:begin(a) A:fork(B) A:begin(b) A:r(x) B:w(x) A:join(B) A:r(x) A:end A:end";
    assert_eq!(velodrome(trace), ["Torn b Observed by A:a B:- in a"]);
    assert_eq!(aerodrome(trace), ["Torn b Observed by A:a B:- in a"]);
    // Its own threads divide the inner region, somebody else the outer one.
    let trace = "A:begin(a) A:w(y) A:begin(b) A:w(x) A:fork(B) B:w(x) A:join(B) C:w(y) A:r(x) A:end A:r(y) A:end";
    assert_eq!(velodrome(trace), ["Torn a Observed by A:a C:-"]);
    assert_eq!(
        aerodrome(trace),
        [
            "Torn a Observed by A:a C:-",
            "ForkJoin b Suspected by A:a B:- in a"
        ]
    );
}

#[test]
fn who_awaits_a_thread_awaits_those_that_it_awaited() {
    check(
        "A:begin(a) A:w(x) A:fork(B) B:fork(C) C:w(x) B:join(C) A:join(B) A:r(x) A:end",
        &["ForkJoin a Suspected by A:a B:- B:-"],
    );
    check(
        "A:begin(a) A:w(x) A:fork(B) B:fork(C) C:w(x) B:join(C) A:r(x) A:join(B) A:end",
        &["Torn a Observed by A:a C:-"],
    );
}

#[test]
fn without_synchronization_edges_locks_order_nothing() {
    let trace = "A:begin(a) A:acq(m) A:rel(m) B:acq(m) B:rel(m) A:acq(m) A:rel(m) A:end";
    let velodrome = Velodrome::new(velodrome::Options {
        sync_edges: false,
        ..velodrome::Options::default()
    });
    assert!(said(trace, Box::new(velodrome)).is_empty());
    let aerodrome = Aerodrome::new(aerodrome::Options {
        sync_edges: false,
        ..aerodrome::Options::default()
    });
    assert!(said(trace, Box::new(aerodrome)).is_empty());
}

/// Of two regions that tear each other velodrome reports at least one; aerodrome both.
#[test]
fn aerodrome_leaves_out_no_torn_region() {
    let trace = "A:begin(a) B:begin(b) A:w(x) B:r(x) B:w(y) A:r(y) A:w(z) B:r(z) A:end B:end";
    assert_eq!(velodrome(trace), ["Torn a Observed by A:a B:b"]);
    assert_eq!(
        aerodrome(trace),
        ["Torn a Observed by A:a B:b", "Torn b Observed by B:b A:a"]
    );
}

#[test]
fn a_chain_over_a_hundred_threads_comes_back() {
    let mut trace = "A:begin(a) A:w(x0)".to_owned();
    for i in 0..100 {
        trace.push_str(&format!(
            " T{i}:begin(b{i}) T{i}:r(x{i}) T{i}:w(x{})",
            i + 1
        ));
    }
    trace.push_str(" A:r(x100)");
    let said = aerodrome(&trace);
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("Torn a Observed by A:a T0:b0 T1:b1 "));
    assert!(said[0].ends_with(" T99:b99"));
    assert_eq!(velodrome(&trace), said);
}

#[test]
fn later_executions_of_a_region_are_counted_and_not_examined() {
    let once = "A:begin(a) A:r(x) B:w(x) A:w(x) A:end ";
    let mut source = VecSource::from_text(&numbered(&once.repeat(50))).unwrap();
    let velodrome = Box::new(Velodrome::new(velodrome::Options::default()));
    let aerodrome = Box::new(Aerodrome::new(aerodrome::Options::default()));
    let outcome = run(&mut source, &mut [velodrome, aerodrome], &mut |_| {}).unwrap();
    for name in ["velodrome", "aerodrome"] {
        let of = |f: &&Finding| f.analyses[0] == name;
        let occurrences: u64 = outcome
            .findings
            .iter()
            .filter(of)
            .map(|f| f.occurrences)
            .sum();
        assert_eq!(occurrences, 50, "{name}");
        assert!(outcome.findings.iter().filter(of).count() <= 3, "{name}");
    }
}

#[test]
fn the_headline_says_what_came_between() {
    let mut source =
        VecSource::from_text(&numbered("A:begin(a) A:r(x) B:w(x) A:w(x) A:end")).unwrap();
    let velodrome = Box::new(Velodrome::new(velodrome::Options::default()));
    let outcome = run(&mut source, &mut [velodrome], &mut |_| {}).unwrap();
    assert_eq!(
        outcome.findings[0].message,
        "a is torn: between its read of x (2) and its write of x (4) comes thread B's write of x (3)"
    );
}

/// Thread, what is done, locks held and methods around it, for each step of the one finding.
fn steps(mut source: VecSource) -> Vec<String> {
    let analysis = Box::new(Velodrome::new(velodrome::Options::default()));
    let outcome = run(&mut source, &mut [analysis], &mut |_| {}).unwrap();
    let findings = merge(outcome.findings);
    assert_eq!(findings.len(), 1);
    (findings[0].evidence.interleavings[0].steps.iter())
        .map(|step| {
            let stack: Vec<&str> = (step.stack.iter())
                .filter_map(|place| place.method.as_deref())
                .collect();
            format!(
                "{} {} {} holds [{}] in [{}]",
                step.thread,
                step.op,
                step.target,
                step.locks.join(","),
                stack.join(",")
            )
        })
        .collect()
}

#[test]
fn steps_tell_the_locks_held() {
    // The lock o was taken long before the transaction, s is shared.
    let trace = "b:acq(o) a:begin(add) a:acqs(s) a:acq(m) a:r(x) a:rel(m) a:rels(s)
        b:acq(m) b:w(x) b:rel(m) a:acq(m) a:w(x) a:rel(m) a:end(add)";
    assert_eq!(
        steps(VecSource::from_text(&numbered(trace)).unwrap()),
        [
            "a read x holds [s (shared),m] in []",
            "b write x holds [o,m] in []",
            "a write x holds [m] in []",
        ]
    );
}

#[test]
fn of_several_paths_the_shortest_is_shown() {
    // From a over c to b, and later from a to b itself.
    let trace = "a:begin(f) a:w(x) c:r(x) c:w(y) b:r(y) b:r(x) b:w(z) a:r(z) a:end(f)";
    assert_eq!(
        steps(VecSource::from_text(&numbered(trace)).unwrap()),
        [
            "a write x holds [] in []",
            "b read x holds [] in []",
            "b write z holds [] in []",
            "a read z holds [] in []",
        ]
    );
}

#[test]
fn steps_tell_the_calls_around_them_if_calls_are_recorded() {
    let trace = "a:begin(add) a:r(x) b:w(x) a:w(x) a:end(add)";
    let mut source = VecSource::from_text(&numbered(trace)).unwrap();
    let mut events = Vec::new();
    source.fill(&mut events).unwrap();
    let mut tables = source.tables().clone();
    let class = tables.strings.intern("Box").unwrap();
    let source_file = None;
    tables
        .classes
        .push(Class {
            name: class,
            source_file,
        })
        .unwrap();
    for name in ["outer", "inner", "other"] {
        let name = tables.strings.intern(name).unwrap();
        let descriptor = tables.strings.intern("()V").unwrap();
        let class = ClassId(0);
        tables
            .methods
            .push(Method {
                class,
                name,
                descriptor,
            })
            .unwrap();
    }
    let call = |op, like: &Event| Event { op, ..*like };
    let with_calls = vec![
        call(Op::Enter(MethodId(0)), &events[0]),
        events[0],
        call(Op::Enter(MethodId(1)), &events[0]),
        events[1],
        call(Op::Exit(MethodId(1)), &events[0]),
        call(Op::Enter(MethodId(2)), &events[2]),
        events[2],
        events[3],
        events[4],
    ];
    assert_eq!(
        steps(VecSource::new(tables, with_calls).unwrap()),
        [
            "a read x holds [] in [inner,add,outer]",
            "b write x holds [] in [other]",
            "a write x holds [] in [add,outer]",
        ]
    );
}

/// So many parts and hops that those no path needs any more are forgotten in between.
#[test]
fn a_tear_at_the_end_of_a_long_transaction_is_found() {
    let mut trace = String::from("a:begin(outer) a:w(x) ");
    for i in 0..20_000 {
        trace.push_str("a:begin(inner) a:w(z) a:end(inner) b:r(z) ");
        if i % 100 == 0 {
            trace.push_str("c:r(z) c:w(v) b:r(v) ");
        }
    }
    trace.push_str("b:begin(other) b:w(y) b:end(other) a:r(y) a:end(outer)");
    let both: [Box<dyn Analysis>; 2] = [
        Box::new(Velodrome::new(velodrome::Options::default())),
        Box::new(Aerodrome::new(aerodrome::Options::default())),
    ];
    for analysis in both {
        let said = said(&trace, analysis);
        let is_torn = |line: &String| line.starts_with("Torn outer Observed");
        assert!(said.iter().any(is_torn), "{said:?}");
    }
}
