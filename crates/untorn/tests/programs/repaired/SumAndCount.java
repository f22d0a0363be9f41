package repaired;

import schedule.Pause;

/** Repaired: Times.add changes both under one lock now; before: the mean is taken between the sum and the count. */
public class SumAndCount {
    static class Times {
        private long sum;
        private long count;
        synchronized void add(long time) {
            sum += time;
            Pause.here();
            count++;
        }
        synchronized double mean() {
            return (double) sum / Math.max(1, count);
        }
    }

    public static void main(String[] args) {
        Times c = new Times();
        c.add(5);
        Pause.race(() -> c.add(9), () -> c.mean());
    }
}
