package repaired;

import schedule.Pause;

/** Repaired: Pair.sum is one step now; before: the two parts of a sum are of different times. */
public class StaleSum {
    static class Pair {
        int left = 5;
        int right = 5;
        synchronized int sum() {
            int first = left;
            Pause.here();
            return first + right;
        }
        synchronized void shift(int by) {
            left -= by;
            right += by;
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.sum(), () -> c.shift(2));
    }
}
