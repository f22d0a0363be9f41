package repaired;

import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import schedule.Pause;

/** Repaired: Tree.add is one step now; before: two calls under a read and a write lock. */
public class LockedTreeMap {
    static class Tree {
        private final TreeMap<Integer, String> map = new TreeMap<>();
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        void put(int key, String value) {
            lock.writeLock().lock();
            try {
                map.put(key, value);
            } finally {
                lock.writeLock().unlock();
            }
        }
        boolean has(int key) {
            lock.readLock().lock();
            try {
                return map.containsKey(key);
            } finally {
                lock.readLock().unlock();
            }
        }
        void add(int key, String value) {
            lock.writeLock().lock();
            try {
                if (!map.containsKey(key)) {
                    map.put(key, value);
                }
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) {
        Tree c = new Tree();
        Pause.race(() -> c.add(1, "a"), () -> c.add(1, "b"));
    }
}
