package torn;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import schedule.Pause;

/** Torn: Tally.count: get and put of a synchronized EnumMap. */
public class EnumMapTally {
    enum Kind { BIRD, FISH }
    static class Tally {
        private final Map<Kind, Integer> counts = Collections.synchronizedMap(new EnumMap<>(Kind.class));
        void count(Kind kind) {
            Integer was = counts.get(kind);
            Pause.here();
            counts.put(kind, was == null ? 1 : was + 1);
        }
    }

    public static void main(String[] args) {
        Tally c = new Tally();
        Pause.race(() -> c.count(Kind.BIRD), () -> c.count(Kind.BIRD));
    }
}
