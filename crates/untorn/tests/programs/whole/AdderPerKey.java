package whole;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import schedule.Pause;

/** Whole: an adder per key, made by computeIfAbsent. */
public class AdderPerKey {
    static class Hits {
        private final ConcurrentHashMap<String, LongAdder> counts = new ConcurrentHashMap<>();
        void hit(String page) {
            LongAdder adder = counts.computeIfAbsent(page, key -> new LongAdder());
            Pause.here();
            adder.increment();
        }
        long of(String page) {
            LongAdder adder = counts.get(page);
            return adder == null ? 0 : adder.sum();
        }
    }

    public static void main(String[] args) {
        Hits c = new Hits();
        Pause.race(() -> c.hit("a"), () -> { c.hit("a"); c.of("a"); });
    }
}
