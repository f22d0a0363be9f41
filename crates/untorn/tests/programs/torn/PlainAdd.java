package torn;

import schedule.Pause;

/** Torn: Total.add: a lost update of a long. */
public class PlainAdd {
    static class Total {
        long sum;
        void add(long amount) {
            long before = sum;
            Pause.here();
            sum = before + amount;
        }
    }

    public static void main(String[] args) {
        Total c = new Total();
        Pause.race(() -> c.add(3), () -> c.add(4));
    }
}
