package repaired;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: read under the read lock, written under the write lock. */
public class ReadThenWriteLock {
    static class Counter {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private int n;
        void increment() {
            lock.writeLock().lock();
            try {
                int was = n;
                Pause.here();
                n = was + 1;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
