package repaired;

import schedule.Pause;

/** Repaired: Pair.get is one step now; before: a writer locks and a reader does not. */
public class UnlockedReader {
    static class Pair {
        private int a = 5;
        private int b = 5;
        synchronized void shift(int by) {
            a -= by;
            b += by;
        }
        synchronized int get() {
            int first = a;
            Pause.here();
            return first + b;
        }
    }

    public static void main(String[] args) {
        Pair c = new Pair();
        Pause.race(() -> c.get(), () -> c.shift(1));
    }
}
