package torn;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Torn: Mean.record: two atomics that belong together. */
public class TwoAtomics {
    static class Mean {
        final AtomicInteger count = new AtomicInteger();
        final AtomicLong sum = new AtomicLong();
        void record(int value) {
            count.incrementAndGet();
            Pause.here();
            sum.addAndGet(value);
        }
        double mean() {
            int n = count.get();
            return n == 0 ? 0 : sum.get() / (double) n;
        }
    }

    public static void main(String[] args) {
        Mean c = new Mean();
        Pause.race(() -> c.record(4), () -> c.mean());
    }
}
