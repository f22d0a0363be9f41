package torn;

import schedule.Pause;

/** Torn: Counter.increment: a new counter in every iteration. */
public class FreshObjects {
    static class Counter {
        int n;
        void increment() {
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
