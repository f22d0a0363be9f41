package whole;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Whole: a validated optimistic read. */
public class OptimisticRead {
    static class Pair {
        private final StampedLock lock = new StampedLock();
        private int a;
        private int b;
        void set(int v) {
            long stamp = lock.writeLock();
            try {
                a = v;
                b = -v;
            } finally {
                lock.unlockWrite(stamp);
            }
        }
        int sum() {
            long stamp = lock.tryOptimisticRead();
            int first = a;
            Pause.here();
            int second = b;
            if (!lock.validate(stamp)) {
                stamp = lock.readLock();
                try {
                    first = a;
                    second = b;
                } finally {
                    lock.unlockRead(stamp);
                }
            }
            return first + second;
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.sum(), () -> c.set(3));
    }
}
