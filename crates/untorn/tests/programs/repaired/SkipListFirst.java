package repaired;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import schedule.Pause;

/** Repaired: Jobs.next is one step now; before: firstKey and remove of a ConcurrentSkipListMap. */
public class SkipListFirst {
    static class Jobs {
        final ConcurrentSkipListMap<Integer, String> jobs = new ConcurrentSkipListMap<>(Map.of(1, "a", 2, "b"));
        String next() {
            Pause.here();
            Map.Entry<Integer, String> first = jobs.pollFirstEntry();
            return first == null ? null : first.getValue();
        }
    }

    public static void main(String[] args) {
        Jobs c = new Jobs();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
