package repaired;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Repaired: Peak.offer is one step now; before: get and set of an AtomicLong. */
public class AtomicMax {
    static class Peak {
        final AtomicLong max = new AtomicLong();
        void offer(long value) {
            Pause.here();
            max.accumulateAndGet(value, Math::max);
        }
    }

    public static void main(String[] args) {
        Peak c = new Peak();
        Pause.race(() -> c.offer(3), () -> c.offer(9));
    }
}
