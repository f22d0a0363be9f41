package repaired;

import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: a ReentrantLock taken twice. */
public class ReentrantLockTwice {
    static class Counter {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        void increment() {
            lock.lock();
            try {
                int was = n;
                Pause.here();
                n = was + 1;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
