package torn;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Torn: Lazy.get: the check and the assignment are two critical sections. */
public class LockedLazy {
    static class Lazy {
        private final Lock lock = new ReentrantLock();
        private Object value;
        Object get() {
            lock.lock();
            boolean isMissing;
            try {
                isMissing = value == null;
            } finally {
                lock.unlock();
            }
            if (isMissing) {
                Pause.here();
                Object made = new Object();
                lock.lock();
                try {
                    value = made;
                } finally {
                    lock.unlock();
                }
            }
            return value;
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
