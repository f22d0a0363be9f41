package torn;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Torn: Peak.offer: get and set of an AtomicLong. */
public class AtomicMax {
    static class Peak {
        final AtomicLong max = new AtomicLong();
        void offer(long value) {
            if (value > max.get()) {
                Pause.here();
                max.set(value);
            }
        }
    }

    public static void main(String[] args) {
        Peak c = new Peak();
        Pause.race(() -> c.offer(3), () -> c.offer(9));
    }
}
