package torn;

import schedule.Pause;

/** Torn: Counter.add: two methods use different locks. */
public class WrongLock {
    static class Counter {
        private final Object a = new Object();
        private final Object b = new Object();
        private int n;
        void add() {
            synchronized (a) {
                int was = n;
                Pause.here();
                n = was + 1;
            }
        }
        void sub() {
            synchronized (b) {
                n = n - 1;
            }
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.add(), () -> c.sub());
    }
}
