package whole;

import schedule.Pause;

/** Whole: a critical section that calls another of the same lock. */
public class Reentrant {
    static class Counter {
        private int n;
        synchronized int get() {
            return n;
        }
        synchronized void set(int v) {
            n = v;
        }
        synchronized void increment() {
            set(get() + 1);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
