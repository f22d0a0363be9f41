package repaired;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Repaired: Pair.sum is one step now; before: an optimistic read that is not validated. */
public class UnvalidatedOptimisticRead {
    static class Pair {
        private final StampedLock lock = new StampedLock();
        private int a = 5;
        private int b = 5;
        void shift(int by) {
            long stamp = lock.writeLock();
            a -= by;
            b += by;
            lock.unlockWrite(stamp);
        }
        int sum() {
            long stamp = lock.tryOptimisticRead();
            int first = a;
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
        Pause.race(() -> c.sum(), () -> c.shift(1));
    }
}
