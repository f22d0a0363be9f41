//! The situations that the paper draws, told with traces of our own.

use untorn_model::{ObjectId, ThreadId};
use untorn_trace::{Source, VecSource};

use super::super::graph::{Limits, NodeId, Stretch};
use super::super::logs::Logs;
use super::super::ownership::Ownership;
use super::Icd;

fn fed(text: &str, sync_edges: bool) -> (Icd<Logs>, VecSource) {
    let source = VecSource::from_text(text).unwrap();
    let mut icd = Icd::new(sync_edges, Limits::default(), Logs::default());
    icd.grow(source.tables());
    for (i, event) in source.events().iter().enumerate() {
        icd.event(i as u64, event);
    }
    (icd, source)
}

fn thread(source: &VecSource, name: &str) -> ThreadId {
    let threads = &source.tables().threads;
    let named = |id: &ThreadId| source.tables().thread_name(*id) == name;
    threads.iter().map(|(id, _)| id).find(named).unwrap()
}

fn state(icd: &Icd<Logs>, source: &VecSource, name: &str) -> Ownership {
    let objects = &source.tables().objects;
    let named = |id: &ObjectId| source.tables().object_name(*id) == name;
    let object = objects.iter().map(|(id, _)| id).find(named).unwrap();
    icd.objects[object.index()].state
}

/// Edges between the current nodes of threads, by the threads' names.
fn edges(icd: &Icd<Logs>, source: &VecSource) -> Vec<(String, String)> {
    let name = |node: u32| {
        let holder = icd.threads.iter().position(|t| t.node == NodeId(node));
        source
            .tables()
            .thread_name(ThreadId(holder.unwrap() as u32))
    };
    let mut edges: Vec<_> = (icd.graph.edges().iter())
        .map(|&(from, to)| (name(from), name(to)))
        .collect();
    edges.sort();
    edges
}

#[test]
fn states_change_as_the_table_says() {
    // Figure 2: an object is written, then read by ever more threads, one of which has seen a later count.
    let mut text = String::new();
    let mut step = |line: &str| {
        text.push_str(line);
        text.push_str("|-\n");
        let (icd, source) = fed(&text, true);
        (icd, source)
    };
    let (icd, source) = step("T1|w(o.f)");
    let t1 = thread(&source, "T1");
    assert_eq!(state(&icd, &source, "o"), Ownership::write_exclusive(t1));
    let (icd, source) = step("T2|r(o.f)");
    let t2 = thread(&source, "T2");
    assert_eq!(state(&icd, &source, "o"), Ownership::read_exclusive(t2));
    let (icd, source) = step("T3|r(o.f)");
    let t3 = thread(&source, "T3");
    assert_eq!(state(&icd, &source, "o"), Ownership::read_shared(t3, 1));
    step("T6|w(p.q)");
    step("T5|r(p.q)");
    let (icd, source) = step("T3|r(p.q)");
    assert_eq!(state(&icd, &source, "p"), Ownership::read_shared(t3, 2));
    let before = icd.graph.cross_edges;
    let (icd, source) = step("T5|r(p.q)");
    let t5 = thread(&source, "T5");
    assert_eq!(icd.threads[t5.index()].seen[t3.index()], 2);
    assert_eq!(icd.graph.cross_edges, before + 1, "a fence");
    let (icd, source) = step("T5|r(o.f)");
    let drawn = icd.graph.cross_edges;
    assert_eq!(drawn, before + 1, "T5 has seen a later count");
    assert_eq!(state(&icd, &source, "o"), Ownership::read_shared(t3, 1));
    let (icd, _) = step("T4|r(o.f)");
    assert_eq!(icd.graph.cross_edges, drawn + 1, "T4 has seen none");
    let (icd, source) = step("T1|w(o.f)");
    assert_eq!(state(&icd, &source, "o"), Ownership::write_exclusive(t1));
}

const SEVEN: &str = "\
T1|begin(t1)|-\nT2|begin(t2)|-\nT3|begin(t3)|-\nT4|begin(t4)|-\nT5|begin(t5)|-\nT6|begin(t6)|-\nT7|begin(t7)|-
T1|w(o.f)|-\nT7|w(p.q)|-\nT6|r(p.q)|-\nT5|r(p.q)|-\nT2|r(o.g)|-\nT3|r(o.f)|-\nT4|r(o.h)|-\nT4|r(p.q)|-
";

#[test]
fn every_transition_draws_the_edges_of_figure_4_with_counters_by_thread() {
    let (icd, source) = fed(SEVEN, true);
    let expected = [
        ("T1", "T2"),
        ("T2", "T3"),
        ("T3", "T4"),
        ("T5", "T4"),
        ("T6", "T5"),
        ("T7", "T6"),
    ];
    let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(edges(&icd, &source), expected);
}

#[test]
fn a_write_to_a_shared_object_closes_the_cycle_of_figure_3_and_takes_no_bystander() {
    let text = format!("{SEVEN}T1|w(o.f)|-\nT1|end|-\n");
    let (mut icd, source) = fed(&text, true);
    let end = source.events().len() as u64;
    icd.finish(end);
    let mut threads: Vec<String> = (std::mem::take(&mut icd.suspects).into_stretches().iter())
        .map(|s: &Stretch| source.tables().thread_name(s.thread))
        .collect();
    threads.sort();
    assert_eq!(threads, ["T1", "T2", "T3", "T4"]);
    assert_eq!(icd.graph.components, 1);
}

#[test]
fn transactions_without_edges_share_a_node_and_one_with_an_edge_gets_its_own() {
    let quiet = "A|begin(a)|-\nA|w(x)|-\nA|end|-\n".repeat(5);
    let (icd, _) = fed(&quiet, true);
    assert_eq!(icd.threads[0].node, NodeId::NONE);
    let (mut icd, source) = fed(
        &format!("{quiet}A|begin(b)|-\nB|w(x)|-\nA|w(y)|-\nB|r(y)|-\nA|w(y)|-\nA|end|-\n{quiet}"),
        true,
    );
    icd.finish(source.events().len() as u64);
    let stretches = std::mem::take(&mut icd.suspects).into_stretches();
    let of_a: Vec<_> = stretches.iter().filter(|s| s.thread.0 == 0).collect();
    let torn = Stretch {
        thread: ThreadId(0),
        start: 15,
        end: 21,
    };
    assert_eq!(
        of_a,
        [&torn],
        "the quiet transactions around it are not taken"
    );
}

#[test]
fn readers_of_a_lock_stay_unordered_and_order_its_writer() {
    let readers = "\
A|begin(a)|-\nB|begin(b)|-\nA|acqs(m)|-\nB|acqs(m)|-\nA|rels(m)|-\nB|rels(m)|-\nA|acqs(m)|-\nA|rels(m)|-\nA|end|-\nB|end|-\n";
    let (icd, source) = fed(readers, true);
    let drawn = edges(&icd, &source);
    assert!(
        drawn.len() <= 1,
        "at most the edge of two readers meeting: {drawn:?}"
    );
    let text = format!("{readers}C|begin(c)|-\nC|acq(m)|-\n");
    let (icd, source) = fed(&text, true);
    let drawn = edges(&icd, &source);
    for reader in ["A", "B"] {
        assert!(
            drawn.contains(&(reader.to_owned(), "C".to_owned())),
            "{drawn:?}"
        );
    }
    assert_eq!(fed(&text, false).0.graph.cross_edges, 0);
}
