package torn;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Torn: Seen.first: contains and add of a concurrent key set declared as Set. */
public class KeySetAdd {
    static class Seen {
        final Set<String> seen = ConcurrentHashMap.newKeySet();
        boolean first(String name) {
            if (seen.contains(name)) {
                return false;
            }
            Pause.here();
            seen.add(name);
            return true;
        }
    }

    public static void main(String[] args) {
        Seen c = new Seen();
        Pause.race(() -> c.first("s"), () -> c.first("s"));
    }
}
