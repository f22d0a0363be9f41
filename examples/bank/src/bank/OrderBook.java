package bank;

import java.util.concurrent.locks.ReentrantLock;

/** Counts orders and their volume, which belong together. */
final class OrderBook {
    private final ReentrantLock lock = new ReentrantLock();
    private long orders;
    private long volume;

    /** Torn: the two counters are updated in two critical sections. */
    void place(long amount) {
        lock.lock();
        try {
            orders++;
        } finally {
            lock.unlock();
        }
        Work.some();
        lock.lock();
        try {
            volume += amount;
        } finally {
            lock.unlock();
        }
    }

    /** Whole: one critical section for both. */
    void placeSafely(long amount) {
        lock.lock();
        try {
            orders++;
            volume += amount;
        } finally {
            lock.unlock();
        }
    }

    /** Whole: reads both under the lock. */
    long average() {
        lock.lock();
        try {
            return orders == 0 ? 0 : volume / orders;
        } finally {
            lock.unlock();
        }
    }
}
