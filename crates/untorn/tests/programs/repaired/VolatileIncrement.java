package repaired;

import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: volatile does not make it one step. */
public class VolatileIncrement {
    static class Counter {
        volatile int n;
        synchronized void increment() {
            int was = n;
            Pause.here();
            n = was + 1;
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
