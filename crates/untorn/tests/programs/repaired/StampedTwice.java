package repaired;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: a StampedLock taken twice. */
public class StampedTwice {
    static class Counter {
        private final StampedLock lock = new StampedLock();
        private int n;
        void increment() {
            long write = lock.writeLock();
            try {
                int was = n;
                Pause.here();
                n = was + 1;
            } finally {
                lock.unlockWrite(write);
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
