package whole;

import java.util.concurrent.atomic.LongAdder;
import schedule.Pause;

/** Whole: increments of a LongAdder. */
public class Adder {
    static class Meter {
        private final LongAdder hits = new LongAdder();
        void hit() {
            hits.increment();
        }
    }

    public static void main(String[] args) {
        Meter c = new Meter();
        Pause.race(() -> c.hit(), () -> c.hit());
    }
}
