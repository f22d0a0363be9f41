package torn;

import schedule.Pause;

/** Torn: Counter.increment: two synchronized calls are not one. */
public class SyncGetThenSet {
    static class Counter {
        private int n;
        synchronized int get() {
            return n;
        }
        synchronized void set(int value) {
            n = value;
        }
        void increment() {
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
