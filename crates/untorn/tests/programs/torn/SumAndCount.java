package torn;

import java.util.concurrent.atomic.LongAdder;
import schedule.Pause;

/** Torn: Times.add: the mean is taken between the sum and the count. */
public class SumAndCount {
    static class Times {
        private final LongAdder sum = new LongAdder();
        private final LongAdder count = new LongAdder();
        void add(long time) {
            sum.add(time);
            Pause.here();
            count.increment();
        }
        double mean() {
            return (double) sum.sum() / Math.max(1, count.sum());
        }
    }

    public static void main(String[] args) {
        Times c = new Times();
        c.add(5);
        Pause.race(() -> c.add(9), () -> c.mean());
    }
}
