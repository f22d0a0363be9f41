package whole;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Whole: a write lock downgraded to a read lock. */
public class Downgrade {
    static class Cell {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private int value;
        int bump() {
            lock.writeLock().lock();
            try {
                value++;
                lock.readLock().lock();
            } finally {
                lock.writeLock().unlock();
            }
            try {
                Pause.here();
                return value;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Cell c = new Cell();
        Pause.race(() -> c.bump(), () -> c.bump());
    }
}
