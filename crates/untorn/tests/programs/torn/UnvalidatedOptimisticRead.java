package torn;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Torn: Pair.sum: an optimistic read that is not validated. */
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
            lock.tryOptimisticRead();
            int first = a;
            Pause.here();
            return first + b;
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.sum(), () -> c.shift(1));
    }
}
