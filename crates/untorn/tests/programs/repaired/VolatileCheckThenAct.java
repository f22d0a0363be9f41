package repaired;

import schedule.Pause;

/** Repaired: Gate.enter is one step now; before: closed between the check and the entry. */
public class VolatileCheckThenAct {
    static class Gate {
        boolean open = true;
        int inside;
        synchronized boolean enter() {
            if (!open) {
                return false;
            }
            Pause.here();
            inside = inside + 1;
            return true;
        }
        synchronized void close() {
            open = false;
            inside = 0;
        }
    }

    public static void main(String[] args) {
        Gate c = new Gate();
        Pause.race(() -> c.enter(), () -> c.close());
    }
}
