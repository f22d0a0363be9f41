package whole;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Whole: looked up by a method with the read lock, and again under the write lock before anything is made. */
public class AskedAgainThroughHelper {
    static class Squares {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private final Map<Integer, Integer> known = new TreeMap<>();
        Integer find(int n) {
            lock.readLock().lock();
            try {
                return known.get(n);
            } finally {
                lock.readLock().unlock();
            }
        }
        int of(int n) {
            Integer square = find(n);
            if (square != null) return square;
            Pause.here();
            lock.writeLock().lock();
            try {
                square = known.get(n);
                if (square == null) {
                    square = n * n;
                    known.put(n, square);
                }
                return square;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Squares c = new Squares();
        Pause.race(() -> c.of(7), () -> c.of(7));
    }
}
