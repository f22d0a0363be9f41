package torn;

import schedule.Pause;

/** Torn: Gate.enter: closed between the check and the entry. */
public class VolatileCheckThenAct {
    static class Gate {
        volatile boolean open = true;
        volatile int inside;
        boolean enter() {
            if (!open) {
                return false;
            }
            Pause.here();
            inside = inside + 1;
            return true;
        }
        void close() {
            open = false;
            inside = 0;
        }
    }

    public static void main(String[] args) {
        Gate c = new Gate();
        Pause.race(() -> c.enter(), () -> c.close());
    }
}
