package whole;

import schedule.Pause;

/** Whole: a block on a final field around check and act. */
public class BlockOnField {
    static class Gate {
        private final Object guard = new Object();
        private boolean closed;
        private int passed;
        boolean pass() {
            synchronized (guard) {
                if (closed) {
                    return false;
                }
                Pause.here();
                passed++;
                return true;
            }
        }
        void close() {
            synchronized (guard) {
                closed = true;
            }
        }
    }

    public static void main(String[] args) {
        Gate c = new Gate();
        Pause.race(() -> c.pass(), () -> c.close());
    }
}
