package whole;

import schedule.Pause;

/** Whole: a lock for each stripe. */
public class StripedLocks {
    static class Stripe {
        private int n;
        synchronized void add(int by) {
            n += by;
        }
    }
    static class Counter {
        private final Stripe[] stripes = { new Stripe(), new Stripe() };
        void add(int key) {
            stripes[key & 1].add(key);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.add(1), () -> c.add(3));
    }
}
