package repaired;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Repaired: Lazy.get is one step now; before: the check and the assignment are two critical sections. */
public class LockedLazy {
    static class Lazy {
        private final Lock lock = new ReentrantLock();
        private Object value;
        Object get() {
            lock.lock();
            try {
                if (value == null) {
                    Pause.here();
                    value = new Object();
                }
                return value;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
