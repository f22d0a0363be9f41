package whole;

import java.util.concurrent.atomic.AtomicReference;
import schedule.Pause;

/** Whole: two values in one atomic reference. */
public class AtomicPair {
    static final class Pair {
        final int a;
        final int b;
        Pair(int a, int b) {
            this.a = a;
            this.b = b;
        }
    }
    static class Cell {
        private final AtomicReference<Pair> pair = new AtomicReference<>(new Pair(0, 0));
        void shift(int by) {
            pair.updateAndGet(old -> new Pair(old.a - by, old.b + by));
        }
        int sum() {
            Pair now = pair.get();
            Pause.here();
            return now.a + now.b;
        }
    }

    public static void main(String[] args) {
        Cell c = new Cell();
        Pause.race(() -> c.sum(), () -> c.shift(2));
    }
}
