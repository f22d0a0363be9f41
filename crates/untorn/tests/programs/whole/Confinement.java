package whole;

import schedule.Pause;

/** Whole: every thread has its own object. */
public class Confinement {
    static class Counter {
        private int n;
        void increment() {
            n++;
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> { Counter own = new Counter(); own.increment(); own.increment(); }, () -> { Counter own = new Counter(); own.increment(); });
    }
}
