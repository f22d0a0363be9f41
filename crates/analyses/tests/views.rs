//! What the views analysis says of small traces: the tables and scenarios of paper 001.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod script;

use script::{analyze, analyze_events, regions, with_class};
use untorn_analyses::Outcome;
use untorn_analyses::views::{Options, Views};
use untorn_trace::generate::{Shape, random_trace};

fn views(script: &str) -> Outcome {
    analyze(script, Views::new(Options::default()))
}

/// A script in which each thread generates some views, one critical section each, over fields that all threads have written before.
fn generating(threads: &[(&str, &[&str])]) -> String {
    let mut script = String::from("init: w(x) w(y) w(z)\nother: w(x) w(y) w(z)\n");
    for (thread, views) in threads {
        for view in *views {
            let reads: Vec<String> = view.chars().map(|field| format!("r({field})")).collect();
            script.push_str(&format!("{thread}: acq(l) {} rel(l)\n", reads.join(" ")));
        }
    }
    script
}

/// Who treats as one what whom takes apart: the threads and fields of each conflict.
fn conflicts(outcome: &Outcome) -> Vec<(String, String, String)> {
    let mut conflicts = Vec::new();
    for finding in &outcome.findings {
        for conflict in &finding.evidence.views {
            let [a, b] = &conflict.diverging[..] else {
                panic!("two views diverge");
            };
            assert_eq!(a.thread, b.thread);
            conflicts.push((
                conflict.maximal.thread.clone(),
                a.thread.clone(),
                conflict.fields.concat(),
            ));
        }
    }
    conflicts
}

fn check(threads: &[(&str, &[&str])], expected: &[(&str, &str, &str)]) {
    let found = conflicts(&views(&generating(threads)));
    let found: Vec<_> = (found.iter())
        .map(|(one, apart, fields)| (one.as_str(), apart.as_str(), fields.as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn table_1_two_threads() {
    check(&[("a", &["x", "y"]), ("b", &["x", "y"])], &[]);
    check(&[("a", &["xy"]), ("b", &["x", "y"])], &[("a", "b", "xy")]);
    check(
        &[("a", &["xy", "x", "y"]), ("b", &["x", "y"])],
        &[("a", "b", "xy")],
    );
    check(&[("a", &["xyz"]), ("b", &["xy", "x"])], &[]);
}

#[test]
fn table_2_three_threads() {
    check(
        &[("c", &["xy"]), ("d", &["x"]), ("e", &["x", "y"])],
        &[("c", "e", "xy")],
    );
    check(&[("c", &["xy"]), ("d", &["x"]), ("e", &["y"])], &[]);
    check(
        &[
            ("c", &["xy", "x", "y"]),
            ("d", &["yz", "y", "z"]),
            ("e", &["zx", "z", "x"]),
        ],
        &[],
    );
    check(
        &[
            ("c", &["xy", "x", "yz"]),
            ("d", &["yz", "y", "z"]),
            ("e", &["zx", "z", "x"]),
        ],
        // The table names the first; by the definition c also takes apart what e uses as one.
        &[("c", "d", "yz"), ("e", "c", "xz")],
    );
}

/// All orders of some threads' steps that keep the steps of each in theirs.
fn interleavings(left: &[&[String]]) -> Vec<String> {
    let mut all = Vec::new();
    for (i, steps) in left.iter().enumerate() {
        if let Some((step, rest)) = steps.split_first() {
            let mut others = left.to_vec();
            others[i] = rest;
            all.extend((interleavings(&others).iter()).map(|more| format!("{step}\n{more}")));
        }
    }
    if all.is_empty() {
        all.push(String::new());
    }
    all
}

#[test]
fn whoever_comes_first_the_examples_of_the_paper_are_judged_alike() {
    let examples: [&[(&str, &[&str])]; 8] = [
        &[("a", &["x", "y"]), ("b", &["x", "y"])],
        &[("a", &["xy"]), ("b", &["x", "y"])],
        &[("a", &["xy", "x", "y"]), ("b", &["x", "y"])],
        &[("a", &["xyz"]), ("b", &["xy", "x"])],
        &[("c", &["xy"]), ("d", &["x"]), ("e", &["x", "y"])],
        &[("c", &["xy"]), ("d", &["x"]), ("e", &["y"])],
        &[
            ("c", &["xy", "x", "y"]),
            ("d", &["yz", "y", "z"]),
            ("e", &["zx", "z", "x"]),
        ],
        &[
            ("c", &["xy", "x", "yz"]),
            ("d", &["yz", "y", "z"]),
            ("e", &["zx", "z", "x"]),
        ],
    ];
    let judged = |script: &str| {
        let outcome = views(script);
        let mut apart: Vec<_> = (conflicts(&outcome).into_iter())
            .map(|(_, apart, fields)| {
                let mut fields: Vec<char> = fields.chars().collect();
                fields.sort_unstable();
                (apart, fields)
            })
            .collect();
        apart.sort_unstable();
        (apart, outcome.stats["views"]["incompatible"].clone())
    };
    let mut conflicting = 0;
    for (number, threads) in examples.iter().enumerate() {
        // Whoever it is that writes what it uses, or all of them.
        for writer in 0..=threads.len() {
            let steps: Vec<Vec<String>> = (threads.iter().enumerate())
                .map(|(i, (thread, views))| {
                    let writes = writer == i || writer == threads.len();
                    let op = if writes { "w" } else { "r" };
                    let step = |view: &&str| {
                        let all: Vec<String> = view.chars().map(|f| format!("{op}({f})")).collect();
                        format!("{thread}: acq(l) {} rel(l)", all.join(" "))
                    };
                    views.iter().map(step).collect()
                })
                .collect();
            let steps: Vec<&[String]> = steps.iter().map(Vec::as_slice).collect();
            let mut orders = interleavings(&steps).into_iter();
            let expected = judged(&orders.next().unwrap());
            conflicting += usize::from(!expected.0.is_empty());
            for order in orders {
                assert_eq!(judged(&order), expected, "example {}: {order}", number + 1);
            }
        }
    }
    assert!(conflicting >= 12, "only {conflicting} conflict");
}

#[test]
fn who_writes_before_anybody_else_looks_counts() {
    let outcome = views(
        "t1: acq(c) w(c.x) w(c.y) rel(c)
         t2: acq(c) r(c.x) rel(c) acq(c) r(c.y) rel(c)",
    );
    assert_eq!(regions(&outcome), ["c.x, c.y"]);
}

#[test]
fn many_threads_that_do_the_same_are_compared_once() {
    let threads = 400;
    let mut script = String::from("main: acq(l) w(x) w(y) rel(l)\n");
    for thread in 0..threads {
        script.push_str(&format!(
            "t{thread}: begin(use) acq(l) r(x) rel(l) acq(l) r(y) w(own{thread}) rel(l) end(use)\n"
        ));
    }
    // The least work that is enough for one of them, and then some.
    let options = Options {
        most_work: 4_000,
        ..Options::default()
    };
    let outcome = analyze(&script, Views::new(options));
    assert_eq!(regions(&outcome), ["use"]);
    assert_eq!(outcome.stats["views"]["not_compared"], 0);
    assert_eq!(outcome.stats["views"]["incompatible"], threads);
    assert_eq!(outcome.findings[0].occurrences, threads);
    // What each does besides, with something that others use too, makes no difference.
    for thread in 0..threads {
        script.push_str(&format!("main: acq(l) w(own{thread}) rel(l)\n"));
    }
    let options = Options {
        most_work: 80_000,
        ..Options::default()
    };
    let outcome = analyze(&script, Views::new(options));
    assert_eq!(outcome.stats["views"]["not_compared"], 0);
    assert_eq!(outcome.findings[0].occurrences, threads);
}

#[test]
fn evidence_shows_where_the_named_thread_was() {
    // Both readers generate the same views, at different places.
    let outcome = views(
        "t1: acq(l) w(x) w(y) rel(l)
         t2: acq(l) r(x) rel(l)
         t3: acq(l) r(x) rel(l) acq(l) r(y) rel(l)",
    );
    let conflict = &outcome.findings[0].evidence.views[0];
    let places: Vec<_> = (conflict.diverging.iter())
        .map(|view| (view.thread.as_str(), view.places[0].line.unwrap()))
        .collect();
    assert_eq!(places, [("t3", 9), ("t3", 12)]);
}

#[test]
fn coordinates_set_as_a_pair_and_read_one_by_one() {
    // Four threads share a point; t2 and t4 use it consistently, t3 does not.
    let outcome = views(
        "main: w(p.x) w(p.y)
         t1: begin(setXY) acq(p) w(p.x) w(p.y) rel(p) end(setXY)
         t2: begin(useX) acq(p) r(p.x) rel(p) end(useX)
         t3: begin(useBoth) begin(getX) acq(p) r(p.x) rel(p) end(getX)
         t3: begin(getY) acq(p) r(p.y) rel(p) end(getY) end(useBoth)
         t4: begin(useX) acq(p) r(p.x) rel(p) end(useX)
         t4: begin(getXY) acq(p) r(p.x) r(p.y) rel(p) end(getXY)",
    );
    assert_eq!(regions(&outcome), ["useBoth"]);
    let finding = &outcome.findings[0];
    assert!(finding.message.contains("useBoth uses p.x, p.y apart"));
    let conflict = &finding.evidence.views[0];
    assert_eq!(conflict.fields, ["p.x", "p.y"]);
    assert_eq!(conflict.maximal.thread, "t1");
    assert_eq!(conflict.maximal.lock, "p");
    assert_eq!(conflict.maximal.region.as_ref().unwrap().method, "setXY");
    let views: Vec<_> = (conflict.diverging.iter())
        .map(|view| {
            let line = view.places[0].line.unwrap();
            let region = view.region.as_ref().unwrap().method.clone();
            (view.thread.as_str(), view.fields.concat(), region, line)
        })
        .collect();
    assert_eq!(
        views,
        [
            ("t3", "p.x".to_owned(), "getX".to_owned(), 17),
            ("t3", "p.y".to_owned(), "getY".to_owned(), 22),
        ]
    );
    // Both t1 and t4 use the pair as one; that is one defect seen twice.
    assert_eq!(finding.occurrences, 2);
}

#[test]
fn two_executions_one_after_the_other_do_not_blame_their_region() {
    // t2 deposits into two accounts in two calls; no call is divided, so the fields are named and not the method.
    let outcome = views(
        "main: w(a.balance) w(b.balance)
         t1: begin(total) acq(a) acq(b) r(a.balance) r(b.balance) rel(b) rel(a) end(total)
         t2: begin(deposit) acq(a) w(a.balance) rel(a) end(deposit)
         t2: begin(deposit) acq(b) w(b.balance) rel(b) end(deposit)",
    );
    assert_eq!(outcome.findings.len(), 1);
    let region = &outcome.findings[0].region;
    assert_eq!(region.method, "");
    assert_eq!(region.field.as_deref(), Some("a.balance, b.balance"));
}

#[test]
fn spacecraft_task_achieves_a_property_in_two_sections() {
    let outcome = views(
        "boot: w(table.value) w(table.achieved)
         task: begin(lockProperty) acq(table) w(table.value) rel(table)
         task: acq(table) w(table.achieved) rel(table) end(lockProperty)
         daemon: begin(monitor) acq(table) r(table.achieved) r(state) r(table.value) rel(table)
         daemon: end(monitor)",
    );
    assert_eq!(regions(&outcome), ["lockProperty"]);
    let conflict = &outcome.findings[0].evidence.views[0];
    assert_eq!(conflict.maximal.thread, "daemon");
    assert_eq!(conflict.diverging[0].thread, "task");
}

#[test]
fn a_counter_that_is_read_and_written_back_in_two_sections_is_not_for_views() {
    let outcome = views(
        "t1: begin(inc) acq(m) r(n) rel(m) acq(m) w(n) rel(m) end(inc)
         t2: begin(inc) acq(m) r(n) rel(m) acq(m) w(n) rel(m) end(inc)",
    );
    assert_eq!(regions(&outcome), [""; 0]);
    assert_eq!(outcome.stats["views"]["distinct_views"], 2);
}

#[test]
fn parts_of_one_enclosing_section_do_not_diverge_against_views_under_its_lock() {
    let under = |lock: &str, second: &str| {
        format!(
            "init: w(x) w(y)
             t1: acq({lock}) w(x) w(y) rel({lock})
             t2: acq(l) acq(m) r(x) rel(m) acq(m) r(y) rel(m) rel(l)
             t2: {second}"
        )
    };
    // t1 is kept out by l all the time.
    assert_eq!(regions(&views(&under("l", "r(x)"))), [""; 0]);
    // t1 can come in between under m alone.
    assert_eq!(regions(&views(&under("m", "r(x)"))), ["x, y"]);
    // A second execution of the enclosing block changes nothing, a bare part does.
    let again = "acq(l) acq(m) r(x) rel(m) acq(m) r(y) rel(m) rel(l)";
    assert_eq!(regions(&views(&under("l", again))), [""; 0]);
    let parts = "acq(l) acq(m) r(x) rel(m) rel(l) acq(l) acq(m) r(y) rel(m) rel(l)";
    assert_eq!(regions(&views(&under("l", parts))), ["x, y"]);
}

#[test]
fn fields_that_nobody_writes_once_they_are_shared_are_left_out() {
    let script = |write: &str| {
        format!(
            "t1: w(x) w(y) {write}
             t2: acq(l) r(x) r(y) rel(l)
             t1: acq(l) r(x) rel(l) acq(l) r(y) rel(l)"
        )
    };
    assert_eq!(regions(&views(&script("w(z)"))), [""; 0]);
    let after = "\nt2: w(x) w(y)";
    assert_eq!(regions(&views(&(script("w(z)") + after))), ["x, y"]);
}

#[test]
fn waiting_divides_a_section_and_a_second_hold_does_not() {
    let script = |middle: &str| {
        format!(
            "init: w(x) w(y)
             t1: acq(l) w(x) w(y) rel(l)
             t2: begin(r) acq(l) r(x) {middle} r(y) rel(l) end(r)"
        )
    };
    assert_eq!(regions(&views(&script("wait(l) wake(l)"))), ["r"]);
    assert_eq!(regions(&views(&script("acq(l) rel(l)"))), [""; 0]);
}

#[test]
fn a_section_that_the_trace_cuts_off_counts() {
    let script = "init: w(x) w(y)
                  t1: acq(l) w(x) rel(l) acq(l) w(y) rel(l)
                  t2: acq(l) r(x) r(y)";
    assert_eq!(regions(&views(script)), ["x, y"]);
}

#[test]
fn instances_of_a_class_are_one_finding() {
    let use_of = |point: &str| {
        format!(
            "main: w({point}.x) w({point}.y)
             t1: begin(set) acq({point}) w({point}.x) w({point}.y) rel({point}) end(set)
             t2: begin(use) acq({point}) r({point}.x) rel({point})
             t2: acq({point}) r({point}.y) rel({point}) end(use)\n"
        )
    };
    let script = use_of("p") + &use_of("q") + &use_of("r");
    let views = || Views::new(Options::default());
    let outcome = analyze_events(with_class(&script, "geo.Point"), views());
    assert_eq!(regions(&outcome), ["use"]);
    assert_eq!(outcome.findings[0].occurrences, 3);
    assert!((outcome.findings[0].message).contains("uses geo.Point.x, geo.Point.y apart"));
    // Without regions the finding is about the fields of the class.
    let bare = (["begin(set) ", "begin(use) ", " end(set)", " end(use)"].iter())
        .fold(script, |script, op| script.replace(op, ""));
    let outcome = analyze_events(with_class(&bare, "geo.Point"), views());
    assert_eq!(regions(&outcome), ["Point.x, y"]);
}

#[test]
fn what_is_too_much_to_compare_is_counted() {
    let script = generating(&[("a", &["xy", "yz"]), ("b", &["x", "y", "z"])]);
    let all = views(&script);
    assert_eq!(all.stats["views"]["not_compared"], 0);
    assert!(all.notes.is_empty());
    let some = analyze(
        &script,
        Views::new(Options {
            most_work: 1,
            most_work_together: 1,
            ..Options::default()
        }),
    );
    assert_eq!(some.stats["views"]["not_compared"], 4);
    assert_eq!(some.notes.len(), 1, "{:?}", some.notes);
    assert!(
        conflicts(&some)
            .iter()
            .all(|one| conflicts(&all).contains(one))
    );
    assert!(conflicts(&some).len() < conflicts(&all).len());
}

/// Threads that use sets of fields which nobody else uses, and take apart what others use as one: each has three views of its own.
fn random_views(threads: u32) -> String {
    let mut script = String::new();
    let mut state = 12_345u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for thread in 0..threads {
        script.push_str(&format!("t{thread}: begin(use{}) ", thread % 5));
        for _ in 0..3 {
            script.push_str("acq(l) ");
            for _ in 0..6 {
                script.push_str(&format!("w(f{}) ", random(200)));
            }
            script.push_str("rel(l) ");
        }
        script.push_str(&format!("end(use{})\n", thread % 5));
    }
    script
}

#[test]
fn ever_new_views_of_many_threads_are_all_compared() {
    let outcome = views(&random_views(10_000));
    assert_eq!(outcome.stats["views"]["maximal_views"], 30_000);
    assert_eq!(outcome.stats["views"]["not_compared"], 0);
    let mut found = regions(&outcome);
    found.sort_unstable();
    assert_eq!(found, ["use0", "use1", "use2", "use3", "use4"]);
}

#[test]
fn all_at_once_finds_what_one_by_one_finds() {
    let mut conflicting = 0;
    for seed in 0..60 {
        let (tables, events) = random_trace(seed, &Shape::default(), 400);
        let with = |most_work| {
            let options = Options {
                most_work,
                ..Options::default()
            };
            let outcome = analyze_events((tables.clone(), events.clone()), Views::new(options));
            assert_eq!(outcome.stats["views"]["not_compared"], 0);
            let mut found = regions(&outcome);
            found.sort_unstable();
            // Outside of regions they are called after the fields of the maximal view that shows them.
            let (bare, named): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|region| region.contains('.'));
            (named, !bare.is_empty())
        };
        let all = with(u64::MAX);
        assert_eq!(with(0), all, "seed {seed}");
        conflicting += usize::from(!all.0.is_empty());
    }
    assert!(conflicting >= 12, "only {conflicting} conflict");
}
