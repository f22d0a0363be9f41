//! A method that waits for others, itself or in what it calls, is not one step; what it does on one side of the wait is.

use super::findings;
use super::program::Program;

/// `%` stands for how threads wait for each other.
const PHASES: &str = r"
import java.util.concurrent.*;

public class Phases {
    static final int THREADS = 2;

    public static void main(String[] arguments) throws Exception {
        Grid grid = new Grid();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 40; k++) grid.step(me);
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
    }
}

/** In each phase a thread writes its own cell and then reads the other one. */
class Grid {
    private final Gate gate = new Gate();
    private volatile int left, right;
    private volatile int seen;

    void step(int me) {
        if (me == 0) left = left + 1; else right = right + 1;
        gate.pass(me);
        int other = me == 0 ? right : left;
        gate.pass(me);
        if (me == 0) left = other; else right = other;
        gate.pass(me);
    }
}

class Gate {
    %
}
";

const GATES: [(&str, &str); 6] = [
    (
        "a monitor",
        r"
    private int count, generation;

    synchronized void pass(int me) {
        int mine = generation;
        if (++count == Phases.THREADS) {
            count = 0;
            generation++;
            notifyAll();
        }
        while (mine == generation) {
            try { wait(); } catch (InterruptedException e) { return; }
        }
    }",
    ),
    (
        "a monitor in another method",
        r"
    private int count, generation;

    synchronized void pass(int me) {
        int mine = generation;
        if (++count == Phases.THREADS) {
            count = 0;
            generation++;
            wake();
        }
        while (mine == generation) pause();
    }

    private synchronized void wake() { notifyAll(); }

    private synchronized void pause() {
        try { wait(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
    }",
    ),
    (
        "a barrier",
        r"
    private final CyclicBarrier barrier = new CyclicBarrier(Phases.THREADS);

    void pass(int me) {
        try { barrier.await(); } catch (Exception e) { throw new IllegalStateException(e); }
    }",
    ),
    (
        "a condition",
        r"
    private final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
    private final java.util.concurrent.locks.Condition all = lock.newCondition();
    private int count, generation;

    void pass(int me) {
        lock.lock();
        try {
            int mine = generation;
            if (++count == Phases.THREADS) {
                count = 0;
                generation++;
                all.signalAll();
            }
            while (mine == generation) all.awaitUninterruptibly();
        } finally {
            lock.unlock();
        }
    }",
    ),
    (
        "spinning",
        r"
    private volatile int left, right;

    void pass(int me) {
        if (me == 0) left = left + 1; else right = right + 1;
        if (me == 0) while (right < left) Thread.onSpinWait();
        else while (left < right) Thread.yield();
    }",
    ),
    (
        "queues",
        r"
    private final BlockingQueue<Integer> first = new LinkedBlockingQueue<>(), second = new LinkedBlockingQueue<>();

    void pass(int me) {
        try {
            (me == 0 ? first : second).put(1);
            (me == 0 ? second : first).take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }",
    ),
];

#[test]
fn a_method_that_calls_one_that_waits_is_not_torn_by_it() {
    for (name, gate) in GATES {
        let program = Program::compile("Phases", &PHASES.replace('%', gate));
        for options in [
            &["run", "--format", "json", "--with", "doublechecker"][..],
            &["run", "--format", "json", "--with", "velodrome"],
            &["run", "--format", "json", "--with", "aerodrome"],
        ] {
            let run = program.watched(options);
            assert_eq!(findings(&run), [""; 0], "{name} {options:?}");
        }
    }
}

#[test]
fn a_check_without_a_run_says_the_same() {
    for (name, gate) in GATES {
        let program = Program::compile("Phases", &PHASES.replace('%', gate));
        let check = Program::untorn(&["check", "--format", "json", &program.classes()]);
        assert_eq!(findings(&check), [""; 0], "{name}");
    }
}

#[test]
fn a_region_that_the_user_names_is_one_step_although_it_waits() {
    let program = Program::compile("Phases", &PHASES.replace('%', GATES[0].1));
    let spec = program.file("spec.toml");
    std::fs::write(&spec, "heuristic = \"none\"\ninclude = [\"Grid.step\"]\n").unwrap();
    let run = program.watched(&["run", "--format", "json", "--fast", "--spec", &spec]);
    assert_eq!(findings(&run), ["step torn observed"]);
}

#[test]
fn what_is_torn_on_one_side_of_a_wait_is_found() {
    const SIDES: &str = r"
import java.util.concurrent.*;

public class Sides {
    public static void main(String[] arguments) throws Exception {
        Store store = new Store();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 300; k++) {
                    store.before();
                    store.after();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
    }
}

class Store {
    private final Meeting meeting = new Meeting();
    private volatile int first, second;

    void before() {
        int seen = first;
        Thread.yield();
        first = seen + 1;
        meeting.attend();
    }

    void after() {
        meeting.attend();
        int seen = second;
        Thread.yield();
        second = seen + 1;
    }
}

class Meeting {
    private final CyclicBarrier barrier = new CyclicBarrier(3);

    void attend() {
        try { barrier.await(); } catch (Exception e) { throw new IllegalStateException(e); }
    }
}
";
    let program = Program::compile("Sides", SIDES);
    for options in [
        &["run", "--format", "json", "--with", "velodrome"][..],
        &["run", "--format", "json", "--fast"],
    ] {
        let run = program.watched(options);
        assert_eq!(
            findings(&run),
            ["after torn observed", "before torn observed"],
            "{options:?}"
        );
    }
}
