package untorn.exercise;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import untorn.exercise.Case.Turn;

/**
 * Looks for outcomes of two concurrent calls that the two orders of these calls do not have.
 *
 * <p>It is bounded by numbers alone, and what it does depends on its seed and the pair, so that it finds the same on every
 * machine; a time may end it early.
 */
final class Search {
    /** How much is tried in each pass: states and points of each; more states where they have fewer points. */
    private static final int[] STATES = {3, 6, 12}, POINTS = {40, 120, 250};
    /** Random states for each that is surely tried, and the most that may fail. */
    private static final int MADE = 8, FAILED = 4;
    /** States and races where the agent watches. */
    private static final int STEERED_STATES = 5, STEERED_RACES = 6, FOUND_RACES = 12;
    /** Points before the one where a second call came in that a plan may hold threads up after. */
    private static final int BEFORE = 3;
    /** Unexplained outcomes of one state that are looked into. */
    private static final int CONFIRMED = 3;
    /** By how much one of two threads is late, at most, in turns of a loop. */
    private static final int LATEST = 400;
    /** How often the calls that make a state are repeated, so that races last longer. */
    private static final int[] AMPLIFIED = {30, 300};
    private static final int AMPLIFIED_RACES = 400;

    /** An outcome of no serial order; {@code found} says which random state it came from, {@code stop} where the second call came in. */
    record Visible(Case of, String found, List<Integer> parts, Outcome seen, Outcome tornFirst, Outcome tornLast, int stop, String place) {}

    /** A state that could be made: what it promises, and what the orders give. */
    private record Candidate(Case made, String name, Serial serial, Case.Within alone, int promise) {}

    private final Maker maker;
    private final long seed, end;
    private final boolean steered;
    final Workers workers;
    /** Methods that did not come back. */
    private final Set<Method> hang = new HashSet<>();
    /** Counts of the pair that was looked at last. */
    int made, tries, waits;

    Search(List<Class<?>> known, long seed, boolean steered, long end) {
        maker = new Maker(known, new Random(seed));
        this.seed = seed;
        this.steered = steered;
        this.end = end;
        workers = new Workers(steered);
    }

    private boolean isOver() {
        return System.nanoTime() - end >= 0;
    }

    private Random randomFor(Pair pair, String name) {
        Random random = new Random((seed * 31 + pair.hash()) * 31 + name.hashCode());
        random.nextInt();
        return random;
    }

    /** Tries a pair; nothing if all outcomes were explained. */
    Visible look(Pair pair, int pass) {
        made = tries = waits = 0;
        Set<String> noisy = new HashSet<>();
        int states = STATES[Math.min(pass, STATES.length - 1)], points = POINTS[Math.min(pass, POINTS.length - 1)];
        for (Candidate candidate : candidates(pair, pass, states)) {
            // Short calls have few points, and are tried from more states.
            if (isOver() || tries >= states * points) break;
            try {
                made++;
                Visible visible = stops(candidate, points, noisy, randomFor(pair, "stops " + candidate.name));
                if (visible != null) return visible;
            } catch (Workers.Hung hung) {
                if (++waits > 1) break;
            } catch (Throwable failed) {
                // A state that cannot always be made is none to compare with.
            }
        }
        return null;
    }

    /** States for the calls, the most promising first: where their order matters, and on whose way the first call goes where it did not before. */
    private List<Candidate> candidates(Pair pair, int pass, int wanted) {
        List<Candidate> all = new ArrayList<>();
        Set<Long> paths = new HashSet<>();
        for (int i = 0, failed = 0; all.size() < MADE * wanted && failed < FAILED * MADE * wanted && waits < 2 && !isOver(); i++) {
            String name = pass + ":" + i;
            try {
                Case made = make(pair, name);
                Serial serial = made == null ? null : serial(made);
                if (serial == null || serial.saysNothing() || serial.fails(0) || serial.fails(1)) {
                    failed++;
                    continue;
                }
                Case.Within alone = made.within(0, workers);
                int promise = (serial.differs() ? 4 : 0) + (paths.add(Stops.path(alone.trace())) ? 3 : 0);
                all.add(new Candidate(made, name, serial, alone, promise));
            } catch (Workers.Hung hung) {
                failed++;
                waits++;
            } catch (Throwable thrown) {
                failed++;
            }
        }
        all.sort(Comparator.comparing(candidate -> -candidate.promise));
        return all;
    }

    private Case make(Pair pair, String name) throws Workers.Hung {
        Random random = randomFor(pair, name);
        return Case.make(pair, maker.choosingBy(random), random, workers, hang);
    }

    /** The outcomes of both orders. */
    private Serial serial(Case made) throws Throwable {
        Serial serial = new Serial();
        for (int i = 0; i < 2; i++) {
            for (boolean tornFirst : new boolean[] {true, false}) serial.add(tornFirst, made.inTurn(new Turn(tornFirst, 0, null), workers));
        }
        return serial;
    }

    /** The second call at the points of the first one. */
    private Visible stops(Candidate candidate, int most, Set<String> noisy, Random random) throws Throwable {
        Case made = candidate.made;
        Serial serial = candidate.serial;
        Stops stops = new Stops(candidate.alone.trace(), candidate.alone.points(), most, random);
        int confirmed = 0;
        for (int stop = stops.next(); stop != 0 && !isOver(); stop = stops.next()) {
            for (int part : serial.parts()) if (noisy.contains(made.label(part))) serial.drop(part);
            if (serial.saysNothing()) return null;
            tries++;
            Case.Within within = made.within(stop, workers);
            stops.tried(stop, within.blocked());
            if (serial.explains(within.outcome())) continue;
            if (confirmed++ == CONFIRMED) return null;
            List<Integer> before = serial.parts();
            boolean confirms = new Confirmation(made, workers, random).confirms(within, stop, serial);
            if (confirms) {
                return new Visible(made, candidate.name, serial.parts(), within.outcome(), serial.tornFirst(), serial.tornLast(), stop, within.place());
            }
            for (int part : before) if (!serial.parts().contains(part)) noisy.add(made.label(part));
        }
        return null;
    }

    /** The same with less: a shorter state, and no more parts than are needed to tell. */
    Visible shrink(Visible visible) {
        Case shorter = visible.of;
        for (int at = shorter.state.size() - 1; at >= 0 && !isOver(); at--) {
            Case next = shorter.without(at);
            if (next != null && isUnexplained(next, visible.stop)) shorter = next;
        }
        Visible best = shorter == visible.of ? visible : confirmed(shorter, visible);
        List<Integer> parts = best.parts;
        // Long ones go first: a text of the whole object tells less clearly than a number.
        List<Integer> longest = new ArrayList<>(parts);
        longest.sort(Comparator.comparing(part -> -best.seen.parts().get(part).length()));
        for (Integer part : longest) {
            List<Integer> fewer = new ArrayList<>(parts);
            fewer.remove(part);
            Outcome seen = best.seen.only(fewer);
            if (!fewer.isEmpty() && !seen.equals(best.tornFirst.only(fewer)) && !seen.equals(best.tornLast.only(fewer))) parts = fewer;
        }
        return new Visible(best.of, best.found, parts, best.seen, best.tornFirst, best.tornLast, best.stop, best.place);
    }

    /** Whether the same point shows an outcome of neither order from another state, too. */
    private boolean isUnexplained(Case made, int stop) {
        try {
            Serial serial = serial(made);
            return !serial.saysNothing() && !serial.fails(0) && !serial.fails(1) && !serial.explains(made.within(stop, workers).outcome());
        } catch (Throwable failed) {
            return false;
        }
    }

    private Visible confirmed(Case shorter, Visible longer) {
        try {
            Serial serial = serial(shorter);
            Case.Within within = shorter.within(longer.stop, workers);
            Random random = randomFor(shorter.pair, "shrink");
            if (!serial.saysNothing() && !serial.explains(within.outcome()) && new Confirmation(shorter, workers, random).confirms(within, longer.stop, serial)) {
                return new Visible(shorter, longer.found, serial.parts(), within.outcome(), serial.tornFirst(), serial.tornLast(), longer.stop, within.place());
            }
        } catch (Throwable failed) {
            // The longer one stays.
        }
        return longer;
    }

    /** The place where the second call came in, and behind bars those of the points before it, the nearest first: after them a plan holds threads up. */
    String places(Visible visible) {
        if (visible.place == null) return "";
        Set<String> before = new LinkedHashSet<>();
        try {
            for (int back = 1; back <= BEFORE && back < visible.stop; back++) {
                String place = visible.of.within(visible.stop - back, workers).place();
                int bar = place == null ? -1 : place.indexOf('|');
                if (bar >= 0 && !visible.place.endsWith(place.substring(bar))) before.add(place.substring(bar));
            }
        } catch (Throwable failed) {
            // Those that are known will do.
        }
        return visible.place + String.join("", before);
    }

    /** The same from a state in which races show it more often, if there is one; not held up, and so without a place. */
    Visible amplified(Visible visible) {
        for (int times : AMPLIFIED) {
            try {
                Case longer = visible.of.repeated(times);
                Serial serial = serial(longer);
                Random random = randomFor(longer.pair, "races");
                for (int i = 0; i < AMPLIFIED_RACES && !isOver() && serial.parts().containsAll(visible.parts); i++) {
                    Outcome seen = longer.race(random.nextInt(2 * LATEST) - LATEST, workers);
                    if (serial.explains(seen, visible.parts)) continue;
                    return new Visible(longer, visible.found, visible.parts, seen, serial.tornFirst(), serial.tornLast(), visible.stop, visible.place);
                }
            } catch (Throwable failed) {
                // A call that cannot be repeated.
            }
        }
        return null;
    }

    /** After how many races on average it is seen, with these parts alone; 0 if it is not. */
    double rate(Visible visible, int races) {
        Random random = randomFor(visible.of.pair, "rate");
        int done = 0, seen = 0;
        try {
            while (done < races && seen < 5 && !isOver()) {
                done++;
                Outcome outcome = visible.of.race(random.nextInt(2 * LATEST) - LATEST, workers).only(visible.parts);
                if (!outcome.equals(visible.tornFirst.only(visible.parts)) && !outcome.equals(visible.tornLast.only(visible.parts))) seen++;
            }
        } catch (Throwable failed) {
            return 0;
        }
        return seen == 0 ? 0 : (double) done / seen;
    }

    /** Has two threads make the calls, in states as they come, and in the one where a tear was found; others watch. */
    void race(Pair pair, int pass, String found) {
        made = tries = waits = 0;
        List<String> names = new ArrayList<>();
        if (!found.isEmpty()) names.add(found);
        for (int i = 0; i < STEERED_STATES; i++) names.add(pass + ":" + i);
        for (String name : names) {
            try {
                Case made = make(pair, name);
                if (made == null) continue;
                this.made++;
                int races = name.equals(found) ? FOUND_RACES : STEERED_RACES;
                for (int i = 0; i < races && !isOver(); i++, tries++) made.race(0, workers);
            } catch (Workers.Hung hung) {
                if (++waits > 1) return;
            } catch (Throwable failed) {
                // The next state may be one.
            }
        }
    }
}
