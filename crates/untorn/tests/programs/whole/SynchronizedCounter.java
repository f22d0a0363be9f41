package whole;

import schedule.Pause;

/** Whole: one critical section. */
public class SynchronizedCounter {
    static class Counter {
        private int n;
        synchronized void increment() {
            n++;
        }
        synchronized int get() {
            return n;
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
