//! Events that cannot follow what came before, because the other half was not recorded.
//!
//! A thread that runs out of stack, or code that is not watched, can leave a region, give up a monitor or wake from a wait without a record.
//! What is missing is put in where it must have happened at the latest, so that the rest of the thread is not lost:
//! - a lock that is taken although another thread seems to hold it was released by that thread before;
//! - a region or method that ends although inner ones are open ended those before;
//! - a thread that goes on after a wait has woken.
//!
//! An end, exit or release without its beginning is dropped.
//! Nothing put in is an access, so no conflict on data is invented.
//!
//! What a thread tells of itself later ([`Aside`]) is no repair: it says which regions ended and which monitors were given up where its stack was too short for a record, before it did anything else.
//!
//! A class initializer that runs in a region is no part of it, so what it does there is left out.
//! It runs once, at a time that nobody chose; what it writes to its own class is ordered by the JVM for everybody.
//! Missed are tears in which an initializer takes part by other data.

use untorn_model::{Event, LockId, LockMode, MethodId, Op, RegionId, SiteId, Tables, ThreadId};
use untorn_trace::wellformed::{Checker, Violation};

/// What a thread tells of its regions and monitors, besides events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// So many regions ended, the innermost ones, before anything else happened in the thread.
    Unwound(u32),
    /// A monitor was given up once.
    Released(LockId),
    /// A class initializer begins within a region, or ends.
    InitializerBegins,
    InitializerEnds,
}

/// What was done with an event besides passing it on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mended {
    /// It cannot follow what came before.
    pub refused: bool,
    /// How many events were missing before it.
    pub put_in: u64,
}

/// What is open in each thread.
#[derive(Debug, Default)]
pub struct Repair {
    regions: Vec<Vec<RegionId>>,
    /// How many regions have begun that are in no other, and by thread the number of the latest.
    begun: u64,
    latest: Vec<u64>,
    calls: Vec<Vec<MethodId>>,
    /// By thread: a class initializer runs within a region, and so many regions are open in it.
    initializers: Vec<Option<u32>>,
    /// How many run.
    initializing: usize,
}

fn of<T: Default>(all: &mut Vec<T>, thread: ThreadId) -> &mut T {
    if all.len() <= thread.index() {
        all.resize_with(thread.index() + 1, T::default);
    }
    &mut all[thread.index()]
}

impl Repair {
    /// Admits an event with what is missing before it; `into` gets them in order.
    #[inline]
    pub fn admit(
        &mut self,
        checker: &mut Checker,
        mut event: Event,
        into: &mut Vec<Event>,
    ) -> Mended {
        if self.initializing > 0 && self.is_in_initializer(&event) {
            return Mended::default();
        }
        match checker.admit(&mut event) {
            Ok(()) => {
                self.follow(&event);
                into.push(event);
                Mended::default()
            }
            Err(violation) => {
                let before = into.len();
                let used = self.mend(checker, event, violation, into);
                Mended {
                    refused: !used,
                    put_in: (into.len() - before - usize::from(used)) as u64,
                }
            }
        }
    }

    /// Whether an event belongs to a class initializer within a region.
    #[cold]
    fn is_in_initializer(&mut self, event: &Event) -> bool {
        let Some(open) = of(&mut self.initializers, event.thread) else {
            return false;
        };
        match event.op {
            // They are told by whoever notices.
            Op::GoneObject(_) | Op::GoneLock(_) => return false,
            Op::Begin(_) => *open += 1,
            Op::End(_) if *open > 0 => *open -= 1,
            Op::End(_) => {
                self.initialized(event.thread);
                return false;
            }
            _ => {}
        }
        true
    }

    fn initialized(&mut self, thread: ThreadId) {
        if of(&mut self.initializers, thread).take().is_some() {
            self.initializing -= 1;
        }
    }

    /// Takes in what a thread tells of itself.
    pub fn aside(
        &mut self,
        checker: &mut Checker,
        (thread, aside): (ThreadId, Aside),
        tables: &Tables,
        into: &mut Vec<Event>,
    ) {
        let mut admit = |this: &mut Self, site, op| {
            let mut event = Event { thread, site, op };
            if checker.admit(&mut event).is_ok() {
                this.follow(&event);
                into.push(event);
            }
        };
        match aside {
            Aside::InitializerBegins => {
                let running = of(&mut self.initializers, thread).replace(0);
                self.initializing += usize::from(running.is_none());
            }
            Aside::InitializerEnds => self.initialized(thread),
            Aside::Released(lock) => {
                let outside = of(&mut self.initializers, thread).is_none();
                // If not, whoever took it since has shown that it was free.
                if outside {
                    let op = Op::Release(LockMode::Exclusive, lock);
                    admit(self, SiteId::UNKNOWN, op);
                }
            }
            Aside::Unwound(mut count) => {
                if let Some(open) = of(&mut self.initializers, thread) {
                    let within = count.min(*open);
                    *open -= within;
                    count -= within;
                    if count > 0 {
                        self.initialized(thread);
                    }
                }
                for _ in 0..count {
                    let Some(&region) = of(&mut self.regions, thread).last() else {
                        break;
                    };
                    admit(self, tables.regions[region].site, Op::End(region));
                }
            }
        }
    }

    #[cold]
    fn mend(
        &mut self,
        checker: &mut Checker,
        mut event: Event,
        violation: Violation,
        into: &mut Vec<Event>,
    ) -> bool {
        let mut admitted = Err(violation);
        // Each round puts in one event, so it ends: at most all open regions, holds and one wake.
        while let Err(violation) = admitted {
            let Some(mut missing) = self.missing(&event, violation) else {
                return false;
            };
            missing.site = event.site;
            if checker.admit(&mut missing).is_err() {
                return false;
            }
            self.follow(&missing);
            into.push(missing);
            admitted = checker.admit(&mut event);
        }
        self.follow(&event);
        into.push(event);
        true
    }

    #[inline]
    fn follow(&mut self, event: &Event) {
        match event.op {
            Op::Begin(region) => {
                let open = of(&mut self.regions, event.thread);
                open.push(region);
                if open.len() == 1 {
                    *of(&mut self.latest, event.thread) = self.begun;
                    self.begun += 1;
                }
            }
            Op::End(_) => drop(of(&mut self.regions, event.thread).pop()),
            Op::Enter(method) => of(&mut self.calls, event.thread).push(method),
            Op::Exit(_) => drop(of(&mut self.calls, event.thread).pop()),
            _ => {}
        }
    }

    /// How many regions have begun that are in no other.
    #[inline]
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// The number of the oldest of them that is open; larger than all if none is.
    pub fn oldest(&self) -> u64 {
        let open = self.regions.iter().zip(&self.latest);
        let open = open.filter(|(open, _)| !open.is_empty());
        open.map(|(_, latest)| *latest).min().unwrap_or(u64::MAX)
    }

    /// The event that must have come before, if there is one.
    fn missing(&mut self, event: &Event, violation: Violation) -> Option<Event> {
        let (thread, op) = match violation {
            Violation::HeldBy { lock, holder, .. } => {
                (holder, Op::Release(LockMode::Exclusive, lock))
            }
            Violation::WhileWaiting(thread, lock) => (thread, Op::Wake(lock)),
            Violation::MismatchedEnd {
                thread,
                open,
                ended,
            } if of(&mut self.regions, thread).contains(&ended) => (thread, Op::End(open)),
            Violation::MismatchedExit { thread, open, left }
                if of(&mut self.calls, thread).contains(&left) =>
            {
                (thread, Op::Exit(open))
            }
            _ => return None,
        };
        Some(Event {
            thread,
            site: event.site,
            op,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use untorn_model::{Region, RegionKind};

    fn run(events: &[(u32, Op)]) -> (Vec<(u32, Op)>, usize) {
        let (mut repair, mut checker) = (Repair::default(), Checker::default());
        let (mut into, mut dropped) = (Vec::new(), 0);
        for &(thread, op) in events {
            let event = Event {
                thread: ThreadId(thread),
                site: SiteId::UNKNOWN,
                op,
            };
            dropped += usize::from(repair.admit(&mut checker, event, &mut into).refused);
        }
        (into.iter().map(|e| (e.thread.0, e.op)).collect(), dropped)
    }

    const ACQUIRE: Op = Op::Acquire(LockMode::Exclusive, LockId(0));
    const REACQUIRE: Op = Op::Reacquire(LockMode::Exclusive, LockId(0));
    const RELEASE: Op = Op::Release(LockMode::Exclusive, LockId(0));
    const RERELEASE: Op = Op::Rerelease(LockMode::Exclusive, LockId(0));

    #[test]
    fn a_lock_that_others_take_was_given_up_at_every_depth() {
        let (events, dropped) = run(&[(0, ACQUIRE), (0, ACQUIRE), (1, ACQUIRE), (0, RELEASE)]);
        assert_eq!(
            events,
            [
                (0, ACQUIRE),
                (0, REACQUIRE),
                (0, RERELEASE),
                (0, RELEASE),
                (1, ACQUIRE)
            ]
        );
        assert_eq!(dropped, 1, "the release without its acquisition");
    }

    #[test]
    fn inner_regions_end_with_the_outer_one_and_strangers_are_dropped() {
        let (a, b, c) = (RegionId(0), RegionId(1), RegionId(2));
        let (events, dropped) = run(&[
            (0, Op::Begin(a)),
            (0, Op::Begin(b)),
            (0, Op::End(c)),
            (0, Op::End(a)),
        ]);
        assert_eq!(
            events,
            [
                (0, Op::Begin(a)),
                (0, Op::Begin(b)),
                (0, Op::End(b)),
                (0, Op::End(a))
            ]
        );
        assert_eq!(dropped, 1);
    }

    #[test]
    fn who_goes_on_after_a_wait_has_woken() {
        let (wait, wake) = (Op::Wait(LockId(0)), Op::Wake(LockId(0)));
        let (events, dropped) = run(&[
            (0, ACQUIRE),
            (0, wait),
            (1, ACQUIRE),
            (0, Op::Begin(RegionId(0))),
        ]);
        assert_eq!(dropped, 1, "the lock is taken, so it cannot have woken yet");
        assert_eq!(events.len(), 3);
        let (events, dropped) = run(&[(0, ACQUIRE), (0, wait), (0, RELEASE)]);
        assert_eq!(events, [(0, ACQUIRE), (0, wait), (0, wake), (0, RELEASE)]);
        assert_eq!(dropped, 0);
    }

    fn tables(regions: u32) -> Tables {
        let mut tables = Tables::default();
        let name = tables.strings.intern("region").unwrap();
        for _ in 0..regions {
            tables.regions.push(Region {
                kind: RegionKind::Method,
                method: None,
                name,
                site: SiteId::UNKNOWN,
            });
        }
        tables
    }

    #[derive(Clone, Copy)]
    enum Told {
        Event(Op),
        Aside(Aside),
    }

    /// What one thread tells, and what becomes of it.
    fn tell(all: &[Told]) -> (Vec<Op>, bool) {
        let (mut repair, mut checker, tables) = (Repair::default(), Checker::default(), tables(3));
        let (mut into, mut refused) = (Vec::new(), false);
        let thread = ThreadId(0);
        for &told in all {
            match told {
                Told::Event(op) => {
                    let site = SiteId::UNKNOWN;
                    let event = Event { thread, site, op };
                    refused |= repair.admit(&mut checker, event, &mut into).refused;
                }
                Told::Aside(aside) => {
                    repair.aside(&mut checker, (thread, aside), &tables, &mut into);
                }
            }
        }
        (into.iter().map(|event| event.op).collect(), refused)
    }

    #[test]
    fn what_a_thread_tells_late_ends_the_innermost_regions_of_one_name() {
        let a = RegionId(0);
        let (events, refused) = tell(&[
            Told::Event(Op::Begin(a)),
            Told::Event(ACQUIRE),
            Told::Event(Op::Begin(a)),
            Told::Event(ACQUIRE),
            Told::Event(Op::Begin(a)),
            Told::Aside(Aside::Released(LockId(0))),
            Told::Aside(Aside::Unwound(2)),
            Told::Event(RELEASE),
            Told::Event(Op::End(a)),
            // Whoever took the lock since has shown that it was free.
            Told::Aside(Aside::Released(LockId(0))),
            Told::Aside(Aside::Unwound(7)),
        ]);
        let expected = [
            Op::Begin(a),
            ACQUIRE,
            Op::Begin(a),
            REACQUIRE,
            Op::Begin(a),
            RERELEASE,
            Op::End(a),
            Op::End(a),
            RELEASE,
            Op::End(a),
        ];
        assert_eq!(events, expected);
        assert!(!refused);
    }

    #[test]
    fn what_an_initializer_does_in_a_region_is_left_out() {
        let (a, b) = (RegionId(0), RegionId(1));
        let (events, refused) = tell(&[
            Told::Event(Op::Begin(a)),
            Told::Aside(Aside::InitializerBegins),
            Told::Event(ACQUIRE),
            Told::Event(Op::Begin(b)),
            Told::Event(Op::End(b)),
            Told::Event(Op::Begin(b)),
            Told::Aside(Aside::Unwound(1)),
            Told::Event(RELEASE),
            Told::Aside(Aside::InitializerEnds),
            Told::Event(ACQUIRE),
            // One that cannot say that it ends does so with its region.
            Told::Aside(Aside::InitializerBegins),
            Told::Event(Op::Fork(ThreadId(1))),
            Told::Event(Op::End(a)),
            Told::Event(RELEASE),
        ]);
        assert_eq!(events, [Op::Begin(a), ACQUIRE, Op::End(a), RELEASE]);
        assert!(!refused);
    }
}
