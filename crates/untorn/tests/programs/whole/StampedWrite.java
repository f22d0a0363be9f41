package whole;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Whole: a StampedLock in write and read mode. */
public class StampedWrite {
    static class Pair {
        private final StampedLock lock = new StampedLock();
        private int a;
        private int b;
        void set(int v) {
            long stamp = lock.writeLock();
            try {
                a = v;
                Pause.here();
                b = -v;
            } finally {
                lock.unlockWrite(stamp);
            }
        }
        int sum() {
            long stamp = lock.readLock();
            try {
                return a + b;
            } finally {
                lock.unlockRead(stamp);
            }
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.set(3), () -> c.sum());
    }
}
