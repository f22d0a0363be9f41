package torn;

import java.util.concurrent.Semaphore;
import schedule.Pause;

/** Torn: Counter.increment: a semaphore taken twice. */
public class SemaphoreTwice {
    static class Counter {
        private final Semaphore mutex = new Semaphore(1);
        private int n;
        void increment() {
            mutex.acquireUninterruptibly();
            int was = n;
            mutex.release();
            Pause.here();
            mutex.acquireUninterruptibly();
            n = was + 1;
            mutex.release();
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
