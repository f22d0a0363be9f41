package torn;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Torn: Level.raise: what was read counts no more when the lock was given up for the write lock. */
public class StampedConvert {
    static class Level {
        private final StampedLock lock = new StampedLock();
        private int level;
        private int peak;
        int peak() {
            long stamp = lock.writeLock();
            try {
                peak = Math.max(peak, level);
                return peak;
            } finally {
                lock.unlockWrite(stamp);
            }
        }
        void raise(int by) {
            long stamp = lock.readLock();
            try {
                int now = level;
                if (now > 100) {
                    return;
                }
                long write = 0;
                if (by > 1) {
                    write = lock.tryConvertToWriteLock(stamp);
                }
                if (write == 0) {
                    lock.unlockRead(stamp);
                    Pause.here();
                    write = lock.writeLock();
                }
                stamp = write;
                level = now + by;
            } finally {
                lock.unlock(stamp);
            }
        }
    }

    public static void main(String[] args) {
        Level c = new Level();
        Pause.race(() -> c.raise(1), () -> c.raise(1));
    }
}
