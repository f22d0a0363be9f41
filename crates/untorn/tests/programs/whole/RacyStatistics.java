package whole;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Whole: statistics that may be a little off. */
public class RacyStatistics {
    static class Stats {
        private final AtomicLong hits = new AtomicLong();
        private final AtomicLong misses = new AtomicLong();
        void hit() {
            hits.incrementAndGet();
        }
        void miss() {
            misses.incrementAndGet();
        }
        void logStatistics() {
            long h = hits.get();
            Pause.here();
            System.err.print(h + misses.get() < 0 ? "?" : "");
        }
    }

    public static void main(String[] args) {
        Stats c = new Stats();
        Pause.race(() -> c.logStatistics(), () -> { c.hit(); c.miss(); });
    }
}
