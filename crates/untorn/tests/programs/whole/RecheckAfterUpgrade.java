package whole;

import java.util.HashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Whole: looked up under the read lock, again under the write lock. */
public class RecheckAfterUpgrade {
    static class Cache {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final HashMap<String, Object> values = new HashMap<>();
        Object get(String key) {
            lock.readLock().lock();
            try {
                Object value = values.get(key);
                if (value != null) {
                    return value;
                }
            } finally {
                lock.readLock().unlock();
            }
            Pause.here();
            lock.writeLock().lock();
            try {
                Object value = values.get(key);
                if (value == null) {
                    value = new Object();
                    values.put(key, value);
                }
                return value;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Cache c = new Cache();
        Pause.race(() -> c.get("k"), () -> c.get("k"));
    }
}
