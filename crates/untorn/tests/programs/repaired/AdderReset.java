package repaired;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Repaired: Meter.drain is one step now; before: sum and reset of a LongAdder. */
public class AdderReset {
    static class Meter {
        final AtomicLong hits = new AtomicLong();
        void hit() {
            hits.incrementAndGet();
        }
        long drain() {
            Pause.here();
            return hits.getAndSet(0);
        }
    }

    public static void main(String[] args) {
        Meter c = new Meter();
        c.hit();
        Pause.race(() -> c.drain(), () -> c.hit());
    }
}
