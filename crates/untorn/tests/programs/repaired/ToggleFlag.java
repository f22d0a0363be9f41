package repaired;

import schedule.Pause;

/** Repaired: Switch.flip is one step now; before: two flips count as one. */
public class ToggleFlag {
    static class Switch {
        boolean on;
        synchronized boolean flip() {
            boolean was = on;
            Pause.here();
            on = !was;
            return was;
        }
    }

    public static void main(String[] args) {
        Switch c = new Switch();
        Pause.race(() -> c.flip(), () -> c.flip());
    }
}
