package repaired;

import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: two synchronized calls are not one. */
public class SyncGetThenSet {
    static class Counter {
        private int n;
        synchronized int get() {
            return n;
        }
        synchronized void set(int value) {
            n = value;
        }
        synchronized void increment() {
            int now = get();
            Pause.here();
            set(now + 1);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
