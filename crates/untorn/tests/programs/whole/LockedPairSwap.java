package whole;

import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Whole: two fields under one explicit lock. */
public class LockedPairSwap {
    static class Pair {
        private final ReentrantLock lock = new ReentrantLock();
        private int a = 1;
        private int b = 2;
        void swap() {
            lock.lock();
            try {
                int was = a;
                Pause.here();
                a = b;
                b = was;
            } finally {
                lock.unlock();
            }
        }
        int sum() {
            lock.lock();
            try {
                return a + b;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.swap(), () -> c.sum());
    }
}
