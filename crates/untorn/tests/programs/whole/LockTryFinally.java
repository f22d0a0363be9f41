package whole;

import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Whole: a ReentrantLock around everything. */
public class LockTryFinally {
    static class Counter {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        void increment() {
            lock.lock();
            try {
                n++;
                Pause.here();
            } finally {
                lock.unlock();
            }
        }
        int get() {
            lock.lock();
            try {
                return n;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.get());
    }
}
