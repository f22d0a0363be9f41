package whole;

import java.util.concurrent.locks.StampedLock;
import schedule.Pause;

/** Whole: read again when the read lock could not be turned into the write lock. */
public class StampedConvertReread {
    static class Level {
        private final StampedLock lock = new StampedLock();
        private int level;
        void raise() {
            long stamp = lock.readLock();
            try {
                while (level < 100) {
                    long write = lock.tryConvertToWriteLock(stamp);
                    if (write != 0) {
                        stamp = write;
                        level = level + 1;
                        return;
                    }
                    lock.unlockRead(stamp);
                    Pause.here();
                    stamp = lock.writeLock();
                }
            } finally {
                lock.unlock(stamp);
            }
        }
    }

    public static void main(String[] args) {
        Level c = new Level();
        Pause.race(() -> c.raise(), () -> c.raise());
    }
}
