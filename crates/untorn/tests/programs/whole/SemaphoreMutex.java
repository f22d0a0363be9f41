package whole;

import java.util.concurrent.Semaphore;
import schedule.Pause;

/** Whole: a semaphore around everything. */
public class SemaphoreMutex {
    static class Counter {
        private final Semaphore mutex = new Semaphore(1);
        private int n;
        void increment() {
            mutex.acquireUninterruptibly();
            try {
                n++;
                Pause.here();
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
