package repaired;

import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: a lost update of a plain field. */
public class PlainIncrement {
    static class Counter {
        int n;
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
