package whole;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Locks of every kind, each held around the whole. */
public class Locked {
    private final ReentrantLock lock = new ReentrantLock();
    private final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    private final StampedLock stamped = new StampedLock();
    private final AtomicReference<List<String>> words = new AtomicReference<>(List.of());
    private int low, high;
    private volatile int left, right;

    public int move(int by) {
        lock.lock();
        try {
            low += by;
            high += by;
            return high - low;
        } finally {
            lock.unlock();
        }
    }

    public int gap() {
        lock.lock();
        try {
            return high - low;
        } finally {
            lock.unlock();
        }
    }

    public void shift(int by) {
        both.writeLock().lock();
        try {
            left += by;
            right += by;
        } finally {
            both.writeLock().unlock();
        }
    }

    public String sides() {
        both.readLock().lock();
        try {
            return left + " " + right;
        } finally {
            both.readLock().unlock();
        }
    }

    private int x, y;

    public void turn(int by) {
        long stamp = stamped.writeLock();
        try {
            x += by;
            y -= by;
        } finally {
            stamped.unlockWrite(stamp);
        }
    }

    public int sum() {
        long stamp = stamped.tryOptimisticRead();
        int sum = x + y;
        if (!stamped.validate(stamp)) {
            stamp = stamped.readLock();
            try {
                sum = x + y;
            } finally {
                stamped.unlockRead(stamp);
            }
        }
        return sum;
    }

    public List<String> add(String word) {
        while (true) {
            List<String> before = words.get();
            List<String> after = new ArrayList<>(before);
            after.add(word);
            if (words.compareAndSet(before, after)) return after;
        }
    }

    public int count() {
        return words.get().size();
    }

    /** Whether the lock was free: what it says is no part of what it does. */
    public boolean addIfFree(int by) {
        if (!lock.tryLock()) return false;
        try {
            low += by;
            high += by;
            return true;
        } finally {
            lock.unlock();
        }
    }
}
