package torn;

import schedule.Pause;

/** Torn: Pair.sum: the two parts of a sum are of different times. */
public class StaleSum {
    static class Pair {
        int left = 5;
        int right = 5;
        int sum() {
            int first = left;
            Pause.here();
            return first + right;
        }
        void shift(int by) {
            left -= by;
            right += by;
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.sum(), () -> c.shift(2));
    }
}
