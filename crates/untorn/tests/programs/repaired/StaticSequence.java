package repaired;

import schedule.Pause;

/** Repaired: Sequence.next is one step now; before: a static volatile counter. */
public class StaticSequence {
    static class Sequence {
        private static volatile int last;
        static synchronized int next() {
            int mine = last + 1;
            Pause.here();
            last = mine;
            return mine;
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> Sequence.next(), () -> Sequence.next());
    }
}
