package whole;

import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Whole: double-checked locking with a ReentrantLock. */
public class DoubleCheckedExplicitLock {
    static class Lazy {
        private final ReentrantLock lock = new ReentrantLock();
        private volatile Object value;
        Object get() {
            Object known = value;
            if (known == null) {
                Pause.here();
                lock.lock();
                try {
                    known = value;
                    if (known == null) {
                        known = new Object();
                        value = known;
                    }
                } finally {
                    lock.unlock();
                }
            }
            return known;
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
