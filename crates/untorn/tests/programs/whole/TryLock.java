package whole;

import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Whole: work only if the lock is free. */
public class TryLock {
    static class Counter {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        boolean increment() {
            if (!lock.tryLock()) {
                return false;
            }
            try {
                n++;
                Pause.here();
                return true;
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
