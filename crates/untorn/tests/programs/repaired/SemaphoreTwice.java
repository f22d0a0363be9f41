package repaired;

import java.util.concurrent.Semaphore;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: a semaphore taken twice. */
public class SemaphoreTwice {
    static class Counter {
        private final Semaphore mutex = new Semaphore(1);
        private int n;
        void increment() {
            mutex.acquireUninterruptibly();
            try {
                int was = n;
                Pause.here();
                n = was + 1;
            } finally {
                mutex.release();
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
