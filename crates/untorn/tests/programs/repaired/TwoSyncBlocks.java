package repaired;

import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: the lock is given up in the middle. */
public class TwoSyncBlocks {
    static class Counter {
        private int n;
        void increment() {
            synchronized (this) {
                int now = n;
                Pause.here();
                n = now + 1;
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
