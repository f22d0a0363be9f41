package torn;

import java.util.concurrent.atomic.LongAdder;
import schedule.Pause;

/** Torn: Meter.drain: sum and reset of a LongAdder. */
public class AdderReset {
    static class Meter {
        final LongAdder hits = new LongAdder();
        void hit() {
            hits.increment();
        }
        long drain() {
            long sum = hits.sum();
            Pause.here();
            hits.reset();
            return sum;
        }
    }

    public static void main(String[] args) {
        Meter c = new Meter();
        c.hit();
        Pause.race(() -> c.drain(), () -> c.hit());
    }
}
