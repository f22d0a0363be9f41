package untorn.exercise;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import untorn.exercise.Case.Held;
import untorn.exercise.Case.Turn;

/**
 * Whether an outcome is really that of no serial order, or comes of something else: time that passes, random numbers,
 * identities, threads of the code itself, what earlier tries left behind.
 *
 * <p>Both orders are tried again, as slow as the try was: held up at the same point for as long, at other points, and with
 * pauses around the calls. Only parts count that are the same in all these tries. In between, in no fixed order, the try is
 * repeated, and must show the same again. So an outcome that a chance <i>p</i> decides passes with less than
 * <i>p</i>⁶(1−<i>p</i>)³⁰, whatever <i>p</i> is; what time decides varies among the serial tries; and what all tries together
 * change is no more likely to fall on the repeated ones than on the others.
 */
final class Confirmation {
    /** How often the try is repeated, and how often it must show the same. */
    private static final int REPEATED = 8, SAME = 6;
    /** Milliseconds around calls; where an internal thread or a limit of time makes a difference, some of these show it. */
    private static final int[] DELAYS = {0, 0, 0, 1, 8, 25};
    /** Milliseconds for a last try of both orders. */
    private static final int LAST = 100, LONGEST_HELD = 250, USUAL_HELD = 30, POINTS = 20;

    private final Case of;
    private final Workers workers;
    private final Random random;

    Confirmation(Case of, Workers workers, Random random) {
        this.of = of;
        this.workers = workers;
        this.random = random;
    }

    /** Adds what the orders give; whether what was seen at a point is still none of it, and comes again. */
    boolean confirms(Case.Within seen, int stop, Serial serial) throws Throwable {
        int held = Math.min(LONGEST_HELD, 2 * seen.milliseconds() + 2);
        List<Turn> turns = new ArrayList<>();
        for (boolean tornFirst : new boolean[] {true, false}) {
            for (int delay : DELAYS) turns.add(new Turn(tornFirst, delay, null));
            for (int time : new int[] {0, held, USUAL_HELD}) turns.add(new Turn(tornFirst, 0, new Held(true, stop, time)));
            for (int i = 0; i < 3; i++) {
                int other = 1 + random.nextInt(Math.max(POINTS, seen.points()));
                turns.add(new Turn(tornFirst, 0, new Held(true, other, held)));
            }
            for (int time : new int[] {0, held, USUAL_HELD}) turns.add(new Turn(tornFirst, 0, new Held(false, 1 + random.nextInt(POINTS), time)));
        }
        for (int i = 0; i < REPEATED; i++) turns.add(null);
        Collections.shuffle(turns, random);
        for (boolean tornFirst : new boolean[] {true, false}) turns.add(new Turn(tornFirst, LAST, new Held(true, stop, Math.max(held, LAST))));
        List<Outcome> repeated = new ArrayList<>();
        for (Turn turn : turns) {
            if (turn == null) repeated.add(of.within(stop, workers).outcome());
            else serial.add(turn.tornFirst(), of.inTurn(turn, workers));
            if (serial.saysNothing() || serial.explains(seen.outcome())) return false;
        }
        Outcome kept = seen.outcome().only(serial.parts());
        return repeated.stream().filter(it -> it.only(serial.parts()).equals(kept)).count() >= SAME;
    }
}
