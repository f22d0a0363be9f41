package torn;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import schedule.Pause;

/** Torn: Jobs.next: firstKey and remove of a ConcurrentSkipListMap. */
public class SkipListFirst {
    static class Jobs {
        final ConcurrentSkipListMap<Integer, String> jobs = new ConcurrentSkipListMap<>(Map.of(1, "a", 2, "b"));
        String next() {
            if (jobs.isEmpty()) {
                return null;
            }
            Integer first = jobs.firstKey();
            Pause.here();
            return jobs.remove(first);
        }
    }

    public static void main(String[] args) {
        Jobs c = new Jobs();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
