package repaired;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import schedule.Pause;

/** Repaired: Tally.count is one step now; before: get and put of a synchronized EnumMap. */
public class EnumMapTally {
    enum Kind { BIRD, FISH }
    static class Tally {
        private final Map<Kind, Integer> counts = Collections.synchronizedMap(new EnumMap<>(Kind.class));
        void count(Kind kind) {
            Pause.here();
            counts.merge(kind, 1, Integer::sum);
        }
    }

    public static void main(String[] args) {
        Tally c = new Tally();
        Pause.race(() -> c.count(Kind.BIRD), () -> c.count(Kind.BIRD));
    }
}
