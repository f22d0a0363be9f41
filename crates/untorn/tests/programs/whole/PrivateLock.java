package whole;

import schedule.Pause;

/** Whole: a private lock. */
public class PrivateLock {
    static class Counter {
        private final Object lock = new Object();
        private int n;
        void increment() {
            synchronized (lock) {
                n++;
            }
        }
        int get() {
            synchronized (lock) {
                return n;
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.get());
    }
}
