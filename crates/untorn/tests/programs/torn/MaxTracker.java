package torn;

import schedule.Pause;

/** Torn: Max.offer: a smaller value overwrites a larger one. */
public class MaxTracker {
    static class Max {
        int max;
        void offer(int value) {
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
