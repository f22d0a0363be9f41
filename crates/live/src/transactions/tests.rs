//! Random runs, written as the runtime writes them, heard in full and filtered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use untorn_analyses::doublechecker::{Dependences, DoubleChecker};
use untorn_analyses::{Analysis, Outcome, aerodrome, doublechecker};
use untorn_channel::declare::{Access, AccessKind, Declaration, Target};
use untorn_channel::record::LockOp;
use untorn_channel::{Declaration as Told, Record, SharedMemory};
use untorn_findings::{Kind, Region, Verdict};

use super::{Filtered, Room};
use crate::drain::{Chunk, Passed};
use crate::source::LiveSource;

const THREADS: usize = 4;
const OBJECTS: usize = 3;
const FIELDS: u32 = 2;
const LOCKS: usize = 2;

/// What a thread tries next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Begin,
    End,
    Access {
        object: usize,
        field: u32,
        writes: bool,
    },
    Lock(usize),
    Unlock(usize),
    /// Waits, or wakes if it does.
    Wait(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let access =
        (0..OBJECTS, 0..FIELDS, any::<bool>()).prop_map(|(object, field, writes)| Act::Access {
            object,
            field,
            writes,
        });
    prop_oneof![
        2 => Just(Act::Begin),
        2 => Just(Act::End),
        6 => access,
        2 => (0..LOCKS).prop_map(Act::Lock),
        2 => (0..LOCKS).prop_map(Act::Unlock),
        1 => (0..LOCKS).prop_map(Act::Wait),
    ]
}

/// Thread and position, as in an edge.
type Point = Option<(usize, u64)>;

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Fresh,
    Written(usize),
    Read(usize),
    Shared(u64),
}

#[derive(Default)]
struct Writer {
    records: Vec<u64>,
    /// The latest edge from each thread.
    edges: [u64; THREADS],
    regions: Vec<u32>,
    /// Locks held, outermost first, with their depths.
    held: Vec<(usize, u32)>,
    waits: Option<(usize, u32)>,
    shared_seen: u64,
}

/// A program and its runtime: ownership as in table 1 of the paper, and edges from where other threads stand.
#[derive(Default)]
struct World {
    threads: [Writer; THREADS],
    objects: [State; OBJECTS],
    holder: [Option<usize>; LOCKS],
    released: [Point; LOCKS],
    shared: u64,
    last_shared: Point,
    declared: Vec<Told>,
    regions: u32,
    sites: u32,
    /// By site: the locks held there.
    held_at: BTreeMap<u32, Vec<String>>,
}

impl World {
    fn write(&mut self, t: usize, record: Record) {
        self.threads[t].records.push(record.encode());
    }

    fn here(&self, t: usize) -> u64 {
        self.threads[t].records.len() as u64
    }

    fn edge(&mut self, t: usize, from: Point) {
        let Some((u, position)) = from else {
            return;
        };
        if u != t && self.threads[t].edges[u] < position {
            self.threads[t].edges[u] = position;
            let thread = u as u32;
            self.write(t, Record::Edge { thread, position });
        }
    }

    fn edge_from(&mut self, t: usize, u: usize) {
        let position = self.here(u);
        self.edge(t, (position > 0).then_some((u, position)));
    }

    fn site(&mut self, t: usize, access: Option<Access>) -> u32 {
        let site = self.sites;
        self.sites += 1;
        self.declared.push(Declaration::Site {
            id: site,
            method: 0,
            line: site + 1,
            access,
        });
        let held = self.threads[t].held.iter();
        let names = held.map(|(lock, _)| format!("Lock{}", lock + 1)).collect();
        self.held_at.insert(site + 1, names);
        site
    }

    fn step(&mut self, t: usize, act: Act) {
        if self.threads[t].waits.is_some() && !matches!(act, Act::Wait(_)) {
            return;
        }
        match act {
            Act::Begin => {
                if self.threads[t].regions.len() < 2 {
                    let region = self.regions;
                    self.regions += 1;
                    self.declared.push(Declaration::Method {
                        id: region + 1,
                        class: 0,
                        name: format!("m{region}"),
                        descriptor: "()V".to_owned(),
                    });
                    self.declared.push(Declaration::Region {
                        id: region,
                        method: region + 1,
                        block: None,
                        line: 0,
                    });
                    self.threads[t].regions.push(region);
                    self.write(t, Record::Begin { region });
                }
            }
            Act::End => {
                if let Some(region) = self.threads[t].regions.pop() {
                    self.write(t, Record::End { region });
                }
            }
            Act::Access {
                object,
                field,
                writes,
            } => self.access(t, object, field, writes),
            Act::Lock(lock) => {
                if self.holder[lock].is_none_or(|holder| holder == t) {
                    self.edge(t, self.released[lock]);
                    self.enter(t, lock, 1);
                    self.lock(t, LockOp::Acquire, lock);
                }
            }
            Act::Unlock(lock) => {
                if self.holder[lock] == Some(t) {
                    self.lock(t, LockOp::Release, lock);
                    let held = &mut self.threads[t].held;
                    let at = held.iter().position(|(l, _)| *l == lock).unwrap();
                    held[at].1 -= 1;
                    if held[at].1 == 0 {
                        held.remove(at);
                        self.holder[lock] = None;
                    }
                    self.released[lock] = Some((t, self.here(t)));
                }
            }
            Act::Wait(lock) => self.wait_or_wake(t, lock),
        }
    }

    fn wait_or_wake(&mut self, t: usize, lock: usize) {
        if let Some((lock, depth)) = self.threads[t].waits {
            if self.holder[lock].is_none() {
                self.threads[t].waits = None;
                self.edge(t, self.released[lock]);
                self.enter(t, lock, depth);
                self.lock(t, LockOp::Wake, lock);
            }
        } else if self.holder[lock] == Some(t) {
            self.lock(t, LockOp::Wait, lock);
            let held = &mut self.threads[t].held;
            let at = held.iter().position(|(l, _)| *l == lock).unwrap();
            self.threads[t].waits = Some(self.threads[t].held.remove(at));
            self.holder[lock] = None;
            self.released[lock] = Some((t, self.here(t)));
        }
    }

    fn enter(&mut self, t: usize, lock: usize, depth: u32) {
        self.holder[lock] = Some(t);
        let held = &mut self.threads[t].held;
        match held.iter_mut().find(|(l, _)| *l == lock) {
            Some((_, known)) => *known += depth,
            None => held.push((lock, depth)),
        }
    }

    fn lock(&mut self, t: usize, op: LockOp, lock: usize) {
        let site = self.site(t, None);
        let lock = lock as u64 + 1;
        self.write(t, Record::Lock { op, site, lock });
    }

    fn access(&mut self, t: usize, object: usize, field: u32, writes: bool) {
        let state = self.objects[object];
        self.objects[object] = match state {
            State::Fresh if writes => State::Written(t),
            State::Fresh => State::Read(t),
            State::Written(u) if !writes && u == t => state,
            State::Read(u) if !writes && u == t => state,
            State::Written(u) => {
                self.edge_from(t, u);
                if writes {
                    State::Written(t)
                } else {
                    State::Read(t)
                }
            }
            State::Read(u) if writes => {
                self.edge_from(t, u);
                State::Written(t)
            }
            State::Read(u) => {
                self.edge_from(t, u);
                self.edge(t, self.last_shared);
                self.last_shared = Some((t, self.here(t)));
                self.shared += 1;
                self.threads[t].shared_seen = self.shared;
                State::Shared(self.shared)
            }
            State::Shared(_) if writes => {
                (0..THREADS).for_each(|u| self.edge_from(t, u));
                State::Written(t)
            }
            State::Shared(number) => {
                if self.threads[t].shared_seen < number {
                    self.edge(t, self.last_shared);
                    self.threads[t].shared_seen = self.shared;
                }
                state
            }
        };
        let site = self.site(
            t,
            Some(Access {
                kind: if writes {
                    AccessKind::Write
                } else {
                    AccessKind::Read
                },
                target: Target::Field(field),
                volatile: false,
                wide: false,
                approximate: false,
            }),
        );
        let object = object as u64 + 1;
        self.write(t, Record::Access { site, object });
    }

    /// What was declared, in an order in which it can be.
    fn declarations(&self) -> Vec<Told> {
        let mut all = vec![
            Declaration::Class {
                id: 0,
                name: "C".to_owned(),
                source_file: None,
                hash: None,
            },
            Declaration::Method {
                id: 0,
                class: 0,
                name: "m".to_owned(),
                descriptor: "()V".to_owned(),
            },
        ];
        // Each lock has a class of its own, so that its name tells it from others.
        all.extend((1..=LOCKS as u32).map(|id| Declaration::RuntimeClass {
            id,
            name: format!("Lock{id}"),
        }));
        all.extend((0..FIELDS).map(|id| Declaration::Field {
            id,
            class: 0,
            name: format!("f{id}"),
        }));
        all.extend((0..THREADS).map(|id| Declaration::Thread {
            id: id as u32,
            name: format!("T{id}"),
        }));
        all.extend(self.declared.iter().cloned());
        all
    }

    /// The run as a source, its streams cut into chunks that come in some order.
    fn source(&self, cuts: &[(usize, usize)]) -> LiveSource {
        let (chunks, chunks_out) = crossbeam_channel::unbounded();
        let (declarations, declarations_out) = crossbeam_channel::unbounded();
        declarations.send(self.declarations()).unwrap();
        let mut sent = [0; THREADS];
        let rest = (0..THREADS).map(|t| (t, usize::MAX));
        for (t, count) in cuts.iter().copied().chain(rest) {
            let stream = &self.threads[t].records;
            let end = stream.len().min(sent[t] + count.min(stream.len()));
            let records = stream[sent[t]..end].to_vec();
            sent[t] = end;
            let thread = t as u32;
            let chunk = Passed::Chunk(Chunk { thread, records });
            chunks.send(chunk).unwrap();
        }
        let gone = Arc::new(AtomicBool::new(true));
        let memory = Arc::new(SharedMemory::create(1).unwrap());
        LiveSource::new(
            "test".to_owned(),
            memory,
            chunks_out,
            declarations_out,
            gone,
        )
    }
}

fn run_of(steps: &[(usize, Act)]) -> World {
    let mut world = World::default();
    for number in 1..=LOCKS as u32 {
        let lock = u64::from(number);
        world.write(
            0,
            Record::NewLock {
                lock,
                class: number,
            },
        );
    }
    for lock in 0..LOCKS {
        world.released[lock] = Some((0, world.here(0)));
    }
    for &(t, act) in steps {
        world.step(t, act);
    }
    world
}

fn analyzed(mut source: LiveSource, analysis: Box<dyn Analysis>) -> Outcome {
    source.keep().unwrap();
    let outcome = untorn_analyses::run(&mut source, &mut [analysis], &mut |_| {}).unwrap();
    let tally = source.tally();
    assert_eq!(
        (tally.refused, tally.put_in, tally.undeclared, tally.cut_off),
        (0, 0, 0, 0)
    );
    outcome
}

fn all_torn() -> Box<dyn Analysis> {
    Box::new(aerodrome::Aerodrome::new(aerodrome::Options::default()))
}

fn exact() -> Box<dyn Analysis> {
    Box::new(DoubleChecker::new(doublechecker::Options::default()))
}

/// The regions that are torn, each executed once, and how that is known.
fn torn(outcome: &Outcome) -> BTreeSet<(String, Verdict)> {
    let torn = (outcome.findings.iter()).filter(|finding| finding.kind == Kind::Torn);
    torn.map(|finding| (finding.region.short_name(), finding.verdict))
        .collect()
}

const SMALL: Room = Room {
    search: 128,
    memory: 256,
    disk: 1 << 30,
    block: 8,
};

fn filtered(
    world: &World,
    cuts: &[(usize, usize)],
    every: usize,
    room: Room,
) -> (LiveSource, Filtered) {
    let mut source = world.source(cuts);
    let mut dependences = Dependences::searching_after(every);
    let filtered = source.filter(&mut dependences, room);
    (source, filtered)
}

fn steps() -> impl Strategy<Value = Vec<(usize, Act)>> {
    proptest::collection::vec((0..THREADS, act()), 1..250)
}

fn cuts() -> impl Strategy<Value = Vec<(usize, usize)>> {
    proptest::collection::vec((0..THREADS, 1usize..40), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever a run does and however its records arrive: what was torn is the same in the excerpt, on the same grounds.
    #[test]
    fn what_is_torn_is_torn_in_the_excerpt(
        steps in steps(), cuts in cuts(), every in 2usize..60,
    ) {
        let world = run_of(&steps);
        let full = analyzed(world.source(&cuts), all_torn());
        let (source, counted) = filtered(&world, &cuts, every, SMALL);
        prop_assert_eq!(counted.dropped_records, 0);
        let excerpt = analyzed(source, all_torn());
        prop_assert_eq!(torn(&excerpt), torn(&full));
        prop_assert_eq!(excerpt.findings.is_empty(), full.findings.is_empty());

        let (source, _) = filtered(&world, &cuts, every, SMALL);
        let found = analyzed(source, exact());
        prop_assert_eq!(found.findings.is_empty(), full.findings.is_empty());
        prop_assert!(torn(&found).is_subset(&torn(&full)));
        for finding in &found.findings {
            let steps = finding.evidence.interleavings.iter().flat_map(|all| &all.steps);
            for step in steps.filter(|step| ["read", "write"].contains(&step.op.as_str())) {
                let line = step.place.as_ref().and_then(|place| place.line).unwrap_or(0);
                let class = |lock: &String| lock.split('@').next().unwrap_or_default().to_owned();
                let locks: BTreeSet<String> = step.locks.iter().map(class).collect();
                let truth: BTreeSet<String> = world.held_at[&line].iter().cloned().collect();
                prop_assert_eq!(locks, truth, "at line {}", line);
            }
        }
    }

    /// What does not fit is left out, and nothing false comes of that.
    #[test]
    fn what_is_dropped_takes_findings_away_and_adds_none(
        steps in steps(), cuts in cuts(), every in 2usize..60, disk in 0u64..4_000,
    ) {
        let world = run_of(&steps);
        let full = analyzed(world.source(&cuts), all_torn());
        let room = Room { disk, ..SMALL };
        let (source, counted) = filtered(&world, &cuts, every, room);
        let (_, all) = filtered(&world, &cuts, every, SMALL);
        prop_assert_eq!(counted.wanted + counted.dropped_records, all.wanted);
        prop_assert!(counted.wanted * 8 <= disk);
        let excerpt = analyzed(source, all_torn());
        // The innermost region is blamed, so that what tears an inner one may have been dropped and the outer one is blamed.
        let observed = |outcome: &Outcome, enclosing: bool| -> BTreeSet<String> {
            let all = outcome.findings.iter().filter(|f| f.verdict == Verdict::Observed);
            all.flat_map(|finding| {
                let around = finding.evidence.enclosing.iter().filter(|_| enclosing);
                around.chain([&finding.region]).map(Region::short_name)
            })
            .collect()
        };
        prop_assert!(observed(&excerpt, false).is_subset(&observed(&full, true)));
    }
}

/// A region that ends before anybody depends on it leaves nothing to look at.
#[test]
fn regions_that_take_turns_are_freed_unread() {
    let mut steps = Vec::new();
    for round in 0..500 {
        let t = round % 2;
        steps.extend([
            (t, Act::Begin),
            (t, Act::Lock(0)),
            (
                t,
                Act::Access {
                    object: 0,
                    field: 0,
                    writes: true,
                },
            ),
            (t, Act::Unlock(0)),
            (t, Act::End),
        ]);
    }
    let world = run_of(&steps);
    let (mut source, counted) = filtered(&world, &[], 1 << 10, Room::default());
    assert_eq!(counted.scanned.regular_transactions, 500);
    assert_eq!(counted.scanned.accesses_inside, 500);
    assert_eq!(counted.wanted, 0);
    let mut events = Vec::new();
    untorn_trace::Source::fill(&mut source, &mut events).unwrap();
    assert_eq!(events, []);
}
