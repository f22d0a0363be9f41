package whole;

import java.util.concurrent.atomic.LongAdder;
import schedule.Pause;

/** Whole: two counts that nobody compares. */
public class LongAdderCount {
    static class Meter {
        private final LongAdder hits = new LongAdder();
        private final LongAdder misses = new LongAdder();
        void record(boolean hit) {
            (hit ? hits : misses).increment();
        }
        long hits() {
            return hits.sum();
        }
    }

    public static void main(String[] args) {
        Meter c = new Meter();
        Pause.race(() -> c.record(true), () -> { c.record(false); c.hits(); });
    }
}
