package repaired;

import schedule.Pause;

/** Repaired: Counter.add is one step now; before: two methods use different locks. */
public class WrongLock {
    static class Counter {
        private final Object a = new Object();
        private int n;
        void add() {
            synchronized (a) {
                int was = n;
                Pause.here();
                n = was + 1;
            }
        }
        void sub() {
            synchronized (a) {
                n = n - 1;
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.add(), () -> c.sub());
    }
}
