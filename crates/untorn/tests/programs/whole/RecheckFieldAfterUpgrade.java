package whole;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Whole: a field read under the read lock and again under the write lock. */
public class RecheckFieldAfterUpgrade {
    static class Lazy {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private Object value;
        Object get() {
            lock.readLock().lock();
            try {
                if (value != null) {
                    return value;
                }
            } finally {
                lock.readLock().unlock();
            }
            Pause.here();
            lock.writeLock().lock();
            try {
                if (value == null) {
                    value = new Object();
                }
                return value;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
