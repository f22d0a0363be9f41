package repaired;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Repaired: Seen.first is one step now; before: contains and add of a concurrent key set declared as Set. */
public class KeySetAdd {
    static class Seen {
        final Set<String> seen = ConcurrentHashMap.newKeySet();
        boolean first(String name) {
            Pause.here();
            return seen.add(name);
        }
    }

    public static void main(String[] args) {
        Seen c = new Seen();
        Pause.race(() -> c.first("s"), () -> c.first("s"));
    }
}
