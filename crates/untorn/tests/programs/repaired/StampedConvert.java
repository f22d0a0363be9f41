package repaired;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Repaired: Level.raise is one step now; before: what was read counts no more when the lock was given up for the write lock. */
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
            Pause.here();
            long stamp = lock.writeLock();
            try {
                int now = level;
                if (now <= 100) {
                    level = now + by;
                }
            } finally {
                lock.unlockWrite(stamp);
            }
        }
    }

    public static void main(String[] args) {
        Level c = new Level();
        Pause.race(() -> c.raise(1), () -> c.raise(1));
    }
}
