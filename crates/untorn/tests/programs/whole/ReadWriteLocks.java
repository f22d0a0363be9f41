package whole;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Whole: a read-write lock, one section per method. */
public class ReadWriteLocks {
    static class Pair {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private int a;
        private int b;
        int sum() {
            lock.readLock().lock();
            try {
                int first = a;
                Pause.here();
                return first + b;
            } finally {
                lock.readLock().unlock();
            }
        }
        void set(int v) {
            lock.writeLock().lock();
            try {
                a = v;
                b = -v;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.sum(), () -> c.set(3));
    }
}
