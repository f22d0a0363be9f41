package torn;

import schedule.Pause;

/** Torn: Sequence.next: a static volatile counter. */
public class StaticSequence {
    static class Sequence {
        private static volatile int last;
        static int next() {
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
