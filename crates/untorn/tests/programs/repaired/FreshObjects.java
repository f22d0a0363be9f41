package repaired;

import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: a new counter in every iteration. */
public class FreshObjects {
    static class Counter {
        int n;
        synchronized void increment() {
            int was = n;
            Pause.here();
            n = was + 1;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 5; i++) {
            Counter c = new Counter();
            Pause.race(() -> c.increment(), () -> c.increment());
        }
    }
}
