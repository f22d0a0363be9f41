use untorn_model::{AccessFlags, SiteId, VarId};

use super::*;

const T: [ThreadId; 3] = [ThreadId(0), ThreadId(1), ThreadId(2)];
const M: LockId = LockId(0);
const X: LockMode = LockMode::Exclusive;
const S: LockMode = LockMode::Shared;

/// Feeds the events; the ops as admitted, and the violation that ended it.
fn check(events: &[(ThreadId, Op)]) -> (Vec<Op>, Option<Violation>) {
    let mut checker = Checker::default();
    let mut ops = Vec::new();
    for &(thread, op) in events {
        let mut event = Event {
            thread,
            site: SiteId::UNKNOWN,
            op,
        };
        match checker.admit(&mut event) {
            Ok(()) => ops.push(event.op),
            Err(violation) => return (ops, Some(violation)),
        }
    }
    (ops, None)
}

fn violation(events: &[(ThreadId, Op)]) -> Violation {
    let (ops, violation) = check(events);
    assert_eq!(ops.len() + 1, events.len(), "only the last event is wrong");
    violation.expect("the last event is wrong")
}

fn read() -> Op {
    Op::Read(AccessFlags::PLAIN, VarId(0))
}

#[test]
fn reentrant_operations_are_recognized_per_mode() {
    let (ops, none) = check(&[
        (T[0], Op::Acquire(X, M)),
        (T[0], Op::Acquire(S, M)),
        (T[0], Op::Acquire(X, M)),
        (T[0], Op::Release(X, M)),
        (T[0], Op::Release(X, M)),
        (T[1], Op::Acquire(S, M)),
        (T[1], Op::Acquire(S, M)),
    ]);
    assert_eq!(none, None);
    assert_eq!(
        ops,
        [
            Op::Acquire(X, M),
            Op::Acquire(S, M),
            Op::Reacquire(X, M),
            Op::Rerelease(X, M),
            Op::Release(X, M),
            Op::Acquire(S, M),
            Op::Reacquire(S, M),
        ]
    );
}

#[test]
fn a_wait_gives_the_lock_up_at_any_depth_and_the_wake_restores_it() {
    let (ops, none) = check(&[
        (T[0], Op::Acquire(X, M)),
        (T[0], Op::Acquire(X, M)),
        (T[0], Op::Wait(M)),
        (T[1], Op::Acquire(X, M)),
        (T[1], Op::Release(X, M)),
        (T[0], Op::Wake(M)),
        (T[0], Op::Release(X, M)),
        (T[0], Op::Release(X, M)),
    ]);
    assert_eq!(none, None);
    assert_eq!(ops[6..], [Op::Rerelease(X, M), Op::Release(X, M)]);
}

#[test]
fn locks_exclude_and_are_released_by_their_holders() {
    let held = Violation::HeldBy {
        thread: T[1],
        lock: M,
        holder: T[0],
    };
    let acquire = (T[0], Op::Acquire(X, M));
    assert_eq!(violation(&[acquire, (T[1], Op::Acquire(X, M))]), held);
    assert_eq!(violation(&[acquire, (T[1], Op::Acquire(S, M))]), held);
    assert_eq!(
        violation(&[(T[0], Op::Acquire(S, M)), (T[1], Op::Acquire(X, M))]),
        Violation::HeldShared(T[1], M)
    );
    assert_eq!(
        violation(&[acquire, (T[1], Op::Release(X, M))]),
        Violation::NotHeld(T[1], X, M)
    );
    assert_eq!(
        violation(&[acquire, (T[0], Op::Release(S, M))]),
        Violation::NotHeld(T[0], S, M)
    );
    assert_eq!(
        violation(&[(T[0], Op::Wait(M))]),
        Violation::NotHeld(T[0], X, M)
    );
    assert_eq!(
        violation(&[
            acquire,
            (T[0], Op::Wait(M)),
            (T[1], Op::Acquire(X, M)),
            (T[0], Op::Wake(M))
        ]),
        Violation::HeldBy {
            thread: T[0],
            lock: M,
            holder: T[1]
        }
    );
}

#[test]
fn a_waiting_thread_only_wakes() {
    let waits = [(T[0], Op::Acquire(X, M)), (T[0], Op::Wait(M))];
    assert_eq!(
        violation(&[waits[0], waits[1], (T[0], read())]),
        Violation::WhileWaiting(T[0], M)
    );
    assert_eq!(
        violation(&[waits[0], (T[0], Op::Wake(M))]),
        Violation::WakeWithoutWait(T[0], M)
    );
    assert_eq!(
        violation(&[waits[0], waits[1], (T[0], Op::Wake(LockId(1)))]),
        Violation::WakeWithoutWait(T[0], LockId(1))
    );
}

#[test]
fn regions_and_methods_nest() {
    let (a, b) = (RegionId(0), RegionId(1));
    let m = MethodId(0);
    assert_eq!(
        violation(&[(T[0], Op::Begin(a)), (T[1], Op::End(a))]),
        Violation::UnmatchedEnd(T[1])
    );
    assert_eq!(
        violation(&[
            (T[0], Op::Begin(a)),
            (T[0], Op::Begin(b)),
            (T[0], Op::End(a))
        ]),
        Violation::MismatchedEnd {
            thread: T[0],
            open: b,
            ended: a
        }
    );
    assert_eq!(
        violation(&[(T[0], Op::Begin(RegionId::ANONYMOUS)), (T[0], Op::End(a))]),
        Violation::MismatchedEnd {
            thread: T[0],
            open: RegionId::ANONYMOUS,
            ended: a
        }
    );
    // An end without a name closes what is open.
    let closes = [(T[0], Op::Begin(a)), (T[0], Op::End(RegionId::ANONYMOUS))];
    assert_eq!(check(&closes).1, None);
    assert_eq!(
        violation(&[(T[0], Op::Exit(m))]),
        Violation::UnmatchedExit(T[0], m)
    );
    assert_eq!(
        violation(&[(T[0], Op::Enter(m)), (T[0], Op::Exit(MethodId(1)))]),
        Violation::MismatchedExit {
            thread: T[0],
            open: m,
            left: MethodId(1)
        }
    );
}

#[test]
fn a_thread_lives_once() {
    assert_eq!(
        violation(&[(T[1], read()), (T[0], Op::Fork(T[1]))]),
        Violation::ForkOfRunning(T[0], T[1])
    );
    assert_eq!(
        violation(&[(T[0], Op::Fork(T[1])), (T[2], Op::Fork(T[1]))]),
        Violation::ForkOfRunning(T[2], T[1])
    );
    assert_eq!(
        violation(&[(T[0], Op::Join(T[1])), (T[0], Op::Fork(T[1]))]),
        Violation::ForkOfRunning(T[0], T[1])
    );
    assert_eq!(
        violation(&[
            (T[0], Op::Fork(T[1])),
            (T[1], read()),
            (T[0], Op::Join(T[1])),
            (T[2], Op::Join(T[1])),
            (T[1], read())
        ]),
        Violation::AfterJoin(T[1])
    );
    assert_eq!(
        violation(&[(T[0], Op::Fork(T[0]))]),
        Violation::ForkOfSelf(T[0])
    );
    assert_eq!(
        violation(&[(T[0], Op::Join(T[0]))]),
        Violation::JoinOfSelf(T[0])
    );
}

#[test]
fn a_refused_event_changes_nothing() {
    let mut checker = Checker::default();
    let mut admit = |thread, op| {
        let mut event = Event {
            thread,
            site: SiteId::UNKNOWN,
            op,
        };
        checker.admit(&mut event)
    };
    admit(T[0], Op::Acquire(X, M)).unwrap();
    admit(T[1], Op::Acquire(X, M)).unwrap_err();
    // A refused first event does not start the thread, so it can still be forked.
    admit(T[0], Op::Fork(T[1])).unwrap();
    admit(T[0], Op::Release(X, M)).unwrap();
    admit(T[1], Op::Acquire(X, M)).unwrap();
}

#[test]
fn recordings_must_have_resolved_depths() {
    let event = |op| Event {
        thread: T[0],
        site: SiteId::UNKNOWN,
        op,
    };
    let mut checker = Checker::default();
    checker.verify(&event(Op::Acquire(X, M))).unwrap();
    checker.verify(&event(Op::Reacquire(X, M))).unwrap();
    assert_eq!(
        checker.verify(&event(Op::Release(X, M))),
        Err(Violation::WrongDepth(T[0], M))
    );
}
