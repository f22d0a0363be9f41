package torn;

import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import schedule.Pause;

/** Torn: Jobs.next: firstKey and remove of a synchronized NavigableMap. */
public class NavigableFirst {
    static class Jobs {
        private final NavigableMap<Integer, String> byTime =
            Collections.synchronizedNavigableMap(new TreeMap<>(Map.of(1, "a", 2, "b")));
        String next() {
            if (byTime.isEmpty()) {
                return null;
            }
            Integer first = byTime.firstKey();
            Pause.here();
            return byTime.remove(first);
        }
    }

    public static void main(String[] args) {
        Jobs c = new Jobs();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
