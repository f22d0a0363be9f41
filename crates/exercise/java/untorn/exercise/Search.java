package untorn.exercise;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Looks for outcomes of two concurrent calls that the two orders of these calls do not have. */
final class Search {
    /** Milliseconds that pass between calls in turn, where an odd number is slow in itself: what depends on time shows itself so, and is left out. */
    private static final int[] AT_ONCE = {0}, AT_FIRST = {0, 3}, TO_CONFIRM = {0, 1, 8, 25, 0};
    /** By how much one of two threads is late, at most, in turns of a loop. */
    private static final int LATEST = 400;
    /** How often the calls that make a state are repeated, so that races last longer. */
    private static final int[] AMPLIFIED = {30, 500};
    /** Points of one state that are tried at most. */
    private static final int MOST_STOPS = 250;

    /** An outcome of no serial order. */
    record Visible(Case of, List<Integer> parts, Outcome seen, Outcome tornFirst, Outcome tornLast, double tries, String place) {}

    /** What the two orders give. */
    private record Serial(List<Integer> parts, Outcome tornFirst, Outcome tornLast) {
        /** Whether a call throws in both orders: then it is hardly one that somebody means. */
        boolean fails(int part) {
            return isException(tornFirst.parts().get(part)) && isException(tornLast.parts().get(part));
        }

        private static boolean isException(String text) {
            return text.endsWith("Exception") || text.endsWith("Error");
        }

        boolean explains(Outcome seen) {
            Outcome kept = seen.only(parts);
            return kept.equals(tornFirst.only(parts)) || kept.equals(tornLast.only(parts));
        }
    }

    private final List<Class<?>> known;
    private final long seed;
    private final boolean steered;
    final Workers workers;
    /** Counts of the pair that was looked at last. */
    int made, tries, waits;

    Search(List<Class<?>> known, long seed, boolean steered) {
        this.known = known;
        this.seed = seed;
        this.steered = steered;
        workers = new Workers(steered);
    }

    /** Tries a pair; nothing if all outcomes were explained. */
    Visible look(Pair pair, int pass, int cases, int races, long end) {
        made = tries = waits = 0;
        for (int i = 0; made < cases && i < 5 * cases && System.nanoTime() < end && waits < 2; i++) {
            Random random = new Random(((seed * 31 + pair.number()) * 31 + pass) * 31 + i);
            random.nextInt();
            try {
                Case made = Case.make(pair, known, random, workers);
                if (made == null) continue;
                Serial serial = serial(made, steered ? AT_ONCE : AT_FIRST);
                if (serial == null || serial.fails(0) || serial.fails(1)) continue;
                this.made++;
                Visible visible = attempts(made, serial, races, end, random);
                if (visible != null) return visible;
            } catch (Workers.Hung hung) {
                waits++;
            } catch (Throwable failed) {
                // A state that cannot always be made is none to compare with.
            }
        }
        return null;
    }

    private Visible attempts(Case made, Serial serial, int races, long end, Random random) throws Throwable {
        return Steps.areThere() ? stops(made, serial, end, random) : races(made, serial, races, end, random);
    }

    /** The second call at every point of the first one, or at some if there are many. */
    private Visible stops(Case made, Serial serial, long end, Random random) throws Throwable {
        int points = made.within(0, workers).points();
        List<Integer> stops = new ArrayList<>();
        for (int stop = 1; stop <= points; stop++) stops.add(stop);
        Collections.shuffle(stops, random);
        for (int stop : stops.subList(0, Math.min(points, MOST_STOPS))) {
            if (System.nanoTime() >= end) break;
            tries++;
            Case.Within within = made.within(stop, workers);
            if (serial.explains(within.outcome())) continue;
            Serial sure = serial(made, TO_CONFIRM);
            if (sure == null || sure.explains(within.outcome())) return null;
            // What depends on something else would not come again.
            Case.Within again = made.within(stop, workers);
            Serial still = serial(made, TO_CONFIRM);
            if (sure.explains(again.outcome()) || still == null) continue;
            List<Integer> parts = new ArrayList<>(sure.parts);
            parts.retainAll(still.parts);
            Serial both = new Serial(parts, sure.tornFirst, sure.tornLast);
            boolean isSame = still.tornFirst.only(parts).equals(sure.tornFirst.only(parts)) && still.tornLast.only(parts).equals(sure.tornLast.only(parts));
            if (!isSame || both.explains(within.outcome()) || both.explains(again.outcome())) continue;
            return new Visible(made, parts, within.outcome(), sure.tornFirst, sure.tornLast, 1, within.place());
        }
        return null;
    }

    private Visible races(Case made, Serial serial, int races, long end, Random random) throws Throwable {
        for (int j = 0; j < races && System.nanoTime() < end; j++) {
            tries++;
            int head = steered ? 0 : random.nextInt(2 * LATEST) - LATEST;
            Outcome seen = made.race(head, workers);
            if (serial.explains(seen)) continue;
            Serial sure = serial(made, TO_CONFIRM);
            if (sure == null || sure.explains(seen)) return null;
            return new Visible(made, sure.parts, seen, sure.tornFirst, sure.tornLast, j + 1, null);
        }
        return null;
    }

    /** The outcomes of both orders, and which parts of them are always the same; nothing if there are none. */
    private Serial serial(Case made, int[] delays) throws Throwable {
        Outcome[] first = new Outcome[2];
        List<Integer> parts = new ArrayList<>();
        for (int delay : delays) {
            for (int order = 0; order < 2; order++) {
                Outcome outcome = made.inTurn(order == 0, delay, delay % 2 == 1, workers);
                if (first[order] == null) {
                    first[order] = outcome;
                    if (order == 0) for (int i = 0; i < outcome.parts().size(); i++) parts.add(i);
                }
                Outcome before = first[order];
                parts.removeIf(i -> outcome.parts().get(i).equals(Outcome.NOTHING)
                        || !outcome.parts().get(i).equals(before.parts().get(i)));
            }
        }
        return parts.isEmpty() ? null : new Serial(parts, first[0], first[1]);
    }

    /** The same with less: a shorter state, and no more parts than are needed to tell. */
    Visible shrink(Visible visible, long end) {
        Visible best = visible;
        int patience = (int) Math.max(steered ? 8 : 200, Math.min(5000, visible.tries * 8));
        for (int at = visible.of.state.size() - 1; at >= 0 && System.nanoTime() < end; at--) {
            Case shorter = best.of.without(at);
            if (shorter == null) continue;
            Visible again = again(shorter, patience, Math.min(end, System.nanoTime() + 400_000_000L));
            if (again != null) best = again;
        }
        List<Integer> parts = new ArrayList<>(best.parts);
        for (int i = parts.size() - 1; i >= 0 && parts.size() > 1; i--) {
            List<Integer> fewer = new ArrayList<>(parts);
            fewer.remove(i);
            Outcome seen = best.seen.only(fewer);
            if (!seen.equals(best.tornFirst.only(fewer)) && !seen.equals(best.tornLast.only(fewer))) parts = fewer;
        }
        return new Visible(best.of, parts, best.seen, best.tornFirst, best.tornLast, best.tries, best.place);
    }

    private Visible again(Case made, int races, long end) {
        try {
            Serial serial = serial(made, AT_FIRST);
            return serial == null ? null : attempts(made, serial, races, end, new Random(seed));
        } catch (Throwable failed) {
            return null;
        }
    }

    /** The same from a state in which races show it more often, if there is one. */
    Visible amplified(Visible visible, long end) {
        for (int times : AMPLIFIED) {
            try {
                Case longer = visible.of.repeated(times);
                Serial serial = serial(longer, AT_FIRST);
                if (serial == null) continue;
                long until = Math.min(end, System.nanoTime() + 700_000_000L);
                Visible again = races(longer, serial, 100_000, until, new Random(seed));
                if (again != null && again.parts.containsAll(visible.parts)) {
                    Outcome seen = again.seen.only(visible.parts);
                    boolean tells = !seen.equals(again.tornFirst.only(visible.parts)) && !seen.equals(again.tornLast.only(visible.parts));
                    if (tells) return new Visible(longer, visible.parts, again.seen, again.tornFirst, again.tornLast, again.tries, visible.place);
                }
            } catch (Throwable failed) {
                // A call that cannot be repeated.
            }
        }
        return null;
    }

    /** After how many races on average it is seen, with these parts alone; 0 if it is not. */
    double rate(Visible visible, int races, long end) {
        Serial serial = new Serial(visible.parts, visible.tornFirst, visible.tornLast);
        Random random = new Random(seed);
        int done = 0, seen = 0;
        try {
            while (done < races && seen < 5 && System.nanoTime() < end) {
                done++;
                if (!serial.explains(visible.of.race(random.nextInt(2 * LATEST) - LATEST, workers))) seen++;
            }
        } catch (Throwable failed) {
            return 0;
        }
        return seen == 0 ? 0 : (double) done / seen;
    }
}
