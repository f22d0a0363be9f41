package whole;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Whole: a maximum by accumulateAndGet. */
public class AccumulateAndGet {
    static class Peak {
        private final AtomicLong max = new AtomicLong();
        void offer(long value) {
            max.accumulateAndGet(value, Math::max);
        }
    }

    public static void main(String[] args) {
        Peak c = new Peak();
        Pause.race(() -> c.offer(3), () -> c.offer(5));
    }
}
