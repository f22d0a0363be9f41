package repaired;

import schedule.Pause;

/** Repaired: Total.add is one step now; before: a lost update of a long. */
public class PlainAdd {
    static class Total {
        private final Object lock = new Object();
        long sum;
        void add(long amount) {
            synchronized (lock) {
                long before = sum;
                Pause.here();
                sum = before + amount;
            }
        }
    }

    public static void main(String[] args) {
        Total c = new Total();
        Pause.race(() -> c.add(3), () -> c.add(4));
    }
}
