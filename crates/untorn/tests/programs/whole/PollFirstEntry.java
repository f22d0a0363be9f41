package whole;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import schedule.Pause;

/** Whole: one call finds and removes. */
public class PollFirstEntry {
    static class Jobs {
        private final ConcurrentSkipListMap<Integer, String> byTime =
            new ConcurrentSkipListMap<>(Map.of(1, "a", 2, "b"));
        String next() {
            Map.Entry<Integer, String> first = byTime.pollFirstEntry();
            Pause.here();
            return first == null ? "" : first.getKey() + first.getValue();
        }
    }

    public static void main(String[] args) {
        Jobs c = new Jobs();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
