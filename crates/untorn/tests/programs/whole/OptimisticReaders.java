package whole;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Whole: writers hold the lock, readers validate what they read without it, and a writer goes on as a reader. */
public class OptimisticReaders {
    static class Pair {
        private final StampedLock lock = new StampedLock();
        private int a;
        private int b;

        void move(int by) {
            long stamp = lock.writeLock();
            try {
                a += by;
                b -= by;
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        int moveAndSum(int by) {
            long stamp = lock.writeLock();
            a += by;
            b -= by;
            stamp = lock.tryConvertToReadLock(stamp);
            try {
                return a + b;
            } finally {
                lock.unlockRead(stamp);
            }
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

    private static void work(Pair pair, int by) {
        for (int round = 0; round < 100; round++) {
            pair.move(by);
            pair.moveAndSum(by);
            pair.sum();
        }
    }

    public static void main(String[] args) {
        Pair pair = new Pair();
        Pause.race(() -> work(pair, 3), () -> work(pair, 5));
    }
}
