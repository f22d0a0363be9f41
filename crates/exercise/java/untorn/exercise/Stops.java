package untorn.exercise;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** In which order the points of a call are tried: each place of the code once before any twice, and what a lock seems to cover last. */
final class Stops {
    private static final int MONITOREXIT = 195;

    private final int[] trace;
    private final List<Integer> open = new ArrayList<>();
    private final List<Integer> covered = new ArrayList<>();
    /** Whether the other call had to wait, by the points that were tried. */
    private final TreeMap<Integer, Boolean> waited = new TreeMap<>();
    private int left;

    Stops(int[] trace, int points, int most, Random random) {
        this.trace = trace;
        left = most;
        List<Integer> first = new ArrayList<>(), second = new ArrayList<>(), others = new ArrayList<>();
        Map<Integer, Integer> seen = new HashMap<>();
        for (int stop = 1; stop <= points; stop++) {
            int times = stop <= trace.length ? seen.merge(trace[stop - 1], 1, Integer::sum) : 3;
            (times == 1 ? first : times == 2 ? second : others).add(stop);
        }
        for (List<Integer> some : List.of(first, second, others)) {
            Collections.shuffle(some, random);
            open.addAll(some);
        }
        Collections.reverse(open);
    }

    /** The next point; 0 if there is none. */
    int next() {
        if (left-- <= 0) return 0;
        while (!open.isEmpty()) {
            int stop = open.remove(open.size() - 1);
            if (!isCovered(stop)) return stop;
            covered.add(stop);
        }
        return covered.isEmpty() ? 0 : covered.remove(covered.size() - 1);
    }

    void tried(int stop, boolean blocked) {
        waited.put(stop, blocked);
    }

    private boolean isCovered(int stop) {
        Map.Entry<Integer, Boolean> before = waited.floorEntry(stop), behind = waited.ceilingEntry(stop);
        if (before == null || behind == null || !before.getValue() || !behind.getValue()) return false;
        for (int point = before.getKey(); point < behind.getKey() && point <= trace.length; point++) {
            if ((trace[point - 1] & 0xff) == MONITOREXIT) return false;
        }
        return true;
    }

    /** A number for the places that a call passes, whatever their order. */
    static long path(int[] trace) {
        return java.util.Arrays.stream(trace).distinct().mapToLong(place -> place * 0x9e3779b97f4a7c15L).reduce(0, (a, b) -> a ^ Long.rotateLeft(b, 17) * 31);
    }
}
