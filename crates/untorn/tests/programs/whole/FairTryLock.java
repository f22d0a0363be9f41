package whole;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Whole: tryLock with a time, and nothing is done without the lock. */
public class FairTryLock {
    static class Cell {
        private final ReentrantLock lock = new ReentrantLock(true);
        private int n;
        boolean bump() throws InterruptedException {
            if (!lock.tryLock(5, TimeUnit.MILLISECONDS)) {
                return false;
            }
            try {
                int was = n;
                Pause.here();
                n = was + 1;
                return true;
            } finally {
                lock.unlock();
            }
        }
    }
    static void bump(Cell cell) {
        try {
            cell.bump();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) {
        Cell c = new Cell();
        Pause.race(() -> bump(c), () -> bump(c));
    }
}
