package repaired;

import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import schedule.Pause;

/** Repaired: Jobs.next is one step now; before: firstKey and remove of a synchronized NavigableMap. */
public class NavigableFirst {
    static class Jobs {
        private final NavigableMap<Integer, String> byTime =
            Collections.synchronizedNavigableMap(new TreeMap<>(Map.of(1, "a", 2, "b")));
        String next() {
            Pause.here();
            Map.Entry<Integer, String> first = byTime.pollFirstEntry();
            return first == null ? null : first.getValue();
        }
    }

    public static void main(String[] args) {
        Jobs c = new Jobs();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
