package whole;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Whole: each thread sums up for itself and adds once. */
public class LocalAccumulation {
    static class Sums {
        private final AtomicLong all = new AtomicLong();
        void addUp(int[] values) {
            long sum = 0;
            for (int value : values) {
                sum += value;
            }
            Pause.here();
            all.addAndGet(sum);
        }
    }

    public static void main(String[] args) {
        Sums c = new Sums();
        Pause.race(() -> c.addUp(new int[] {1, 2}), () -> c.addUp(new int[] {3}));
    }
}
