package torn;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Torn: Counter.increment: a StampedLock taken twice. */
public class StampedTwice {
    static class Counter {
        private final StampedLock lock = new StampedLock();
        private int n;
        void increment() {
            long read = lock.readLock();
            int was = n;
            lock.unlockRead(read);
            Pause.here();
            long write = lock.writeLock();
            n = was + 1;
            lock.unlockWrite(write);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
