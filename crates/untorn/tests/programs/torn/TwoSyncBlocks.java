package torn;

import schedule.Pause;

/** Torn: Counter.increment: the lock is given up in the middle. */
public class TwoSyncBlocks {
    static class Counter {
        private int n;
        void increment() {
            int now;
            synchronized (this) {
                now = n;
            }
            Pause.here();
            synchronized (this) {
                n = now + 1;
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
