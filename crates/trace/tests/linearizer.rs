//! The merge of per-thread streams: every edge respected, always the same, contradictions named, cuts closed.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use proptest::prelude::*;
use untorn_model::{AccessFlags, Event, EventIndex, Op, SiteId, Tables, Thread, ThreadId, VarId};
use untorn_trace::generate::{Shape, random_trace, trace_of};
use untorn_trace::{Edge, Error, Note, Source, StreamWriter, UtrOptions, UtrSource};

/// Streams with edges: `by_thread[t]` are the events of thread t, told apart by their sites.
#[derive(Clone, Debug)]
struct Streams {
    tables: Tables,
    by_thread: Vec<Vec<Event>>,
    edges: Vec<Edge>,
}

impl Streams {
    /// Streams of accesses, which are well-formed in any order.
    fn of_accesses(lens: &[u64], edges: Vec<Edge>) -> Self {
        let (mut tables, _) = random_trace(0, &Shape::default(), 0);
        while tables.threads.len() < lens.len() {
            let name = tables
                .strings
                .intern(&format!("more{}", tables.threads.len()));
            tables.threads.push(Thread {
                name: name.unwrap(),
            });
        }
        let event = |t, i| Event {
            thread: ThreadId(t as u32),
            site: SiteId((i % 12) as u32),
            op: Op::Write(AccessFlags::PLAIN, VarId((i % 4) as u32)),
        };
        let by_thread = (lens.iter().enumerate())
            .map(|(t, &len)| (0..len).map(|i| event(t, i)).collect())
            .collect();
        Self {
            tables,
            by_thread,
            edges,
        }
    }

    /// Writes the streams in rounds of a few events, which end in a flush; also the length of the file after each round and what it holds of each thread.
    fn write(&self, round: usize) -> (Vec<u8>, Vec<(usize, Vec<u64>)>) {
        let mut rounds = Vec::new();
        let mut bytes = Vec::new();
        let mut writer =
            StreamWriter::new("t.utr", &mut bytes, UtrOptions { compress: false }).unwrap();
        // Edges may be told as early as one likes.
        for edge in &self.edges {
            writer.edge(*edge).unwrap();
        }
        let mut at = vec![0; self.by_thread.len()];
        while (0..at.len()).any(|t| at[t] < self.by_thread[t].len()) {
            for (t, stream) in self.by_thread.iter().enumerate() {
                // Threads advance at different paces.
                let end = stream.len().min(at[t] + 1 + (round * (t + 1)) % 7);
                writer.append(&self.tables, &stream[at[t]..end]).unwrap();
                at[t] = end;
            }
            writer.flush(&self.tables).unwrap();
            rounds.push(at.iter().map(|&n| n as u64).collect::<Vec<_>>());
        }
        writer.finish(&self.tables).unwrap();
        // Every round ends at a chunk boundary; find them by counting events.
        let mut lens = Vec::new();
        let mut offset = 16;
        let mut seen = vec![0u64; self.by_thread.len()];
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        while offset < bytes.len() {
            if bytes[offset + 4] == 2 {
                seen[word(offset + 8) as usize] += u64::from(word(offset + 12));
            }
            offset += 40 + word(offset + 16) as usize;
            if rounds
                .get(lens.len())
                .is_some_and(|round: &Vec<u64>| *round == seen)
            {
                lens.push((offset, seen.clone()));
            }
        }
        (bytes, lens)
    }

    fn check_order(&self, order: &[Event]) {
        let mut passed = vec![0u64; self.by_thread.len()];
        for event in order {
            let t = event.thread.index();
            assert_eq!(
                *event, self.by_thread[t][passed[t] as usize],
                "program order"
            );
            for edge in &self.edges {
                if edge.to == event.thread && edge.before <= passed[t] {
                    assert!(passed[edge.from.index()] >= edge.passed, "{edge:?}");
                }
            }
            passed[t] += 1;
        }
    }

    /// The largest prefix closed under the edges, of streams of which so many events are there.
    fn closed(&self, present: &[u64]) -> Vec<u64> {
        let mut passed = present.to_vec();
        loop {
            let mut changed = false;
            for edge in &self.edges {
                let to = edge.to.index();
                if edge.before < passed[to] && passed[edge.from.index()] < edge.passed {
                    passed[to] = edge.before;
                    changed = true;
                }
            }
            if !changed {
                return passed;
            }
        }
    }
}

fn read(bytes: &[u8]) -> Result<(UtrSource, Vec<Event>), Error> {
    let mut source = UtrSource::from_bytes("t.utr", bytes.to_vec())?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        source.fill(&mut batch)?;
        if batch.is_empty() {
            return Ok((source, all));
        }
        all.append(&mut batch);
    }
}

fn counts(order: &[Event], threads: usize) -> Vec<u64> {
    let mut counts = vec![0; threads];
    for event in order {
        counts[event.thread.index()] += 1;
    }
    counts
}

fn edge((from, passed): (u32, u64), (to, before): (u32, u64)) -> Edge {
    Edge {
        from: ThreadId(from),
        passed,
        to: ThreadId(to),
        before,
    }
}

/// Streams with edges that agree with some order: `order[i]` is the thread of the i-th event, and each pair of indices an edge from the earlier to the later.
fn consistent() -> impl Strategy<Value = Streams> {
    let order = proptest::collection::vec(0..5usize, 1..80);
    let pairs = proptest::collection::vec((any::<u16>(), any::<u16>()), 0..60);
    (order, pairs).prop_map(|(order, pairs)| {
        let mut lens = vec![0u64; 5];
        let positions: Vec<(u32, u64)> = (order.iter())
            .map(|&t| {
                lens[t] += 1;
                (t as u32, lens[t] - 1)
            })
            .collect();
        let edges = (pairs.into_iter())
            .filter_map(|(a, b)| {
                let (a, b) = (a as usize % order.len(), b as usize % order.len());
                let ((from, last), to) = (positions[a.min(b)], positions[a.max(b)]);
                (from != to.0).then(|| edge((from, last + 1), to))
            })
            .collect();
        Streams::of_accesses(&lens, edges)
    })
}

proptest! {
    #[test]
    fn every_edge_is_respected_and_the_order_is_always_the_same(
        streams in consistent(),
        round in 1..20usize,
    ) {
        let (bytes, _) = streams.write(round);
        let (source, order) = read(&bytes).unwrap();
        let all: usize = streams.by_thread.iter().map(Vec::len).sum();
        prop_assert_eq!(order.len(), all);
        prop_assert_eq!(source.notes(), []);
        streams.check_order(&order);
        prop_assert_eq!(&read(&bytes).unwrap().1, &order);
        // Replaying any stretch gives that order too.
        for from in (0..order.len()).step_by(7) {
            let mut replayed = Vec::new();
            let range = EventIndex(from as u64)..EventIndex(from as u64 + 9);
            (Source::replay(&source).unwrap())
                .replay(range, &mut |batch| replayed.extend_from_slice(batch.events))
                .unwrap();
            prop_assert_eq!(&replayed[..], &order[from..order.len().min(from + 9)]);
        }
    }

    #[test]
    fn a_cut_file_yields_the_largest_closed_prefix(streams in consistent(), round in 1..20usize) {
        let (bytes, rounds) = streams.write(round);
        for (len, present) in rounds {
            let (source, order) = read(&bytes[..len]).unwrap();
            streams.check_order(&order);
            let closed = streams.closed(&present);
            prop_assert_eq!(&counts(&order, 5), &closed);
            let dropped: u64 = present.iter().sum::<u64>() - order.len() as u64;
            let truncated = Note::Truncated { file: "t.utr".into(), offset: len as u64 };
            let mut notes = vec![truncated];
            if dropped > 0 {
                notes.push(Note::DroppedEvents { file: "t.utr".into(), count: dropped });
            }
            prop_assert_eq!(source.notes(), notes);
        }
    }

    #[test]
    fn arbitrary_edges_are_respected_or_refused(
        lens in proptest::collection::vec(0..8u64, 4),
        pairs in proptest::collection::vec(((0..4u32, 1..8u64), (0..4u32, 0..8u64)), 0..12),
    ) {
        let edges = pairs.into_iter().map(|(from, to)| edge(from, to)).collect();
        let streams = Streams::of_accesses(&lens, edges);
        let closed = streams.closed(&lens);
        match read(&streams.write(3).0) {
            Ok((_, order)) => {
                streams.check_order(&order);
                prop_assert_eq!(&counts(&order, 4), &lens);
                prop_assert_eq!(&closed, &lens);
            }
            Err(Error::Cycle { .. }) => {}
            Err(error) => prop_assert_ne!(&closed, &lens, "{}", error),
        }
    }

    #[test]
    fn a_recorded_run_with_its_order_as_edges_stays_well_formed(
        steps in proptest::collection::vec(any::<u32>(), 10..150),
        round in 1..20usize,
    ) {
        let (tables, events) = trace_of(&Shape::full(), &steps);
        let threads = tables.threads.len();
        let mut streams = Streams { tables, by_thread: vec![Vec::new(); threads], edges: Vec::new() };
        for event in &events {
            let to = event.thread.index();
            let before = streams.by_thread[to].len() as u64;
            // Synchronization and first events come after everything before them.
            if event.op.access().is_none() || before == 0 {
                for from in (0..threads).filter(|&from| from != to) {
                    let passed = streams.by_thread[from].len() as u64;
                    if passed > 0 {
                        streams.edges.push(edge((from as u32, passed), (to as u32, before)));
                    }
                }
            }
            streams.by_thread[to].push(*event);
        }
        // A joined or forked thread comes after, which no edge above says of plain accesses: they follow their thread's first event.
        let (_, order) = read(&streams.write(round).0).unwrap();
        prop_assert_eq!(order.len(), events.len());
        streams.check_order(&order);
    }
}

#[test]
fn a_contradiction_names_two_threads_that_wait_for_each_other() {
    let edges = vec![edge((0, 2), (1, 1)), edge((1, 3), (0, 1))];
    let streams = Streams::of_accesses(&[3, 3, 3], edges);
    let error = read(&streams.write(1).0).unwrap_err();
    assert!(matches!(error, Error::Cycle { .. }));
    assert_eq!(
        error.to_string(),
        "t.utr: no order of the events is possible: T2 and T1 wait for each other"
    );
    // Three in a circle: the two named are neighbours in it.
    let edges = vec![
        edge((0, 2), (1, 1)),
        edge((1, 2), (2, 1)),
        edge((2, 2), (0, 1)),
    ];
    let streams = Streams::of_accesses(&[3, 3, 3], edges);
    let error = read(&streams.write(1).0).unwrap_err();
    assert!(matches!(error, Error::Cycle { .. }), "{error}");
}

#[test]
fn an_edge_from_an_event_that_never_was_is_an_error_in_a_whole_file() {
    let streams = Streams::of_accesses(&[2, 2], vec![edge((0, 5), (1, 1))]);
    assert_eq!(
        read(&streams.write(1).0).unwrap_err().to_string(),
        "t.utr at event 3: T2 waits for event 5 of T1, which has 2"
    );
}

#[test]
fn an_edge_to_a_written_event_is_refused() {
    let streams = Streams::of_accesses(&[2, 2], Vec::new());
    let mut writer = StreamWriter::new("t.utr", Vec::new(), UtrOptions::default()).unwrap();
    writer
        .append(&streams.tables, &streams.by_thread[1])
        .unwrap();
    assert_eq!(writer.position(ThreadId(1)), 2);
    writer.edge(edge((0, 1), (1, 1))).unwrap_err();
    writer.edge(edge((0, 1), (1, 2))).unwrap();
}

#[test]
fn long_streams_are_merged_and_replayed_across_checkpoints() {
    // Every thousandth event of one thread waits for the other, and back.
    let edges = (1..150u64)
        .flat_map(|k| {
            [
                edge((0, 1000 * k), (1, 1000 * k)),
                edge((1, 1000 * k - 500), (0, 1000 * k)),
            ]
        })
        .collect();
    let streams = Streams::of_accesses(&[150_000, 150_000], edges);
    let mut bytes = Vec::new();
    let options = UtrOptions { compress: true };
    let mut writer = StreamWriter::new("t.utr", &mut bytes, options).unwrap();
    for edge in &streams.edges {
        writer.edge(*edge).unwrap();
    }
    for (a, b) in (streams.by_thread[0].chunks(700)).zip(streams.by_thread[1].chunks(700)) {
        writer.append(&streams.tables, a).unwrap();
        writer.append(&streams.tables, b).unwrap();
    }
    writer.finish(&streams.tables).unwrap();
    let (source, order) = read(&bytes).unwrap();
    assert_eq!(order.len(), 300_000);
    for from in [0u64, 65_536, 99_999, 250_000] {
        let mut replayed = Vec::new();
        let range = EventIndex(from)..EventIndex(from + 30_000);
        (Source::replay(&source).unwrap())
            .replay(range, &mut |batch| replayed.extend_from_slice(batch.events))
            .unwrap();
        assert!(replayed == order[from as usize..from as usize + 30_000]);
    }
}
