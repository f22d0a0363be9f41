package torn;

import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Torn: Counter.increment: a ReentrantLock taken twice. */
public class ReentrantLockTwice {
    static class Counter {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        void increment() {
            int was;
            lock.lock();
            try {
                was = n;
            } finally {
                lock.unlock();
            }
            Pause.here();
            lock.lock();
            try {
                n = was + 1;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
