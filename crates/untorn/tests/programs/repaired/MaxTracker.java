package repaired;

import schedule.Pause;

/** Repaired: Max.offer is one step now; before: a smaller value overwrites a larger one. */
public class MaxTracker {
    static class Max {
        int max;
        synchronized void offer(int value) {
            if (value > max) {
                Pause.here();
                max = value;
            }
        }
    }

    public static void main(String[] args) {
        Max c = new Max();
        Pause.race(() -> c.offer(3), () -> c.offer(9));
    }
}
