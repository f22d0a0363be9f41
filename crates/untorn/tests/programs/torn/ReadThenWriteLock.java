package torn;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Torn: Counter.increment: read under the read lock, written under the write lock. */
public class ReadThenWriteLock {
    static class Counter {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private int n;
        void increment() {
            int was;
            lock.readLock().lock();
            try {
                was = n;
            } finally {
                lock.readLock().unlock();
            }
            Pause.here();
            lock.writeLock().lock();
            try {
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
