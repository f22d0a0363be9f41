package torn;

import schedule.Pause;

/** Torn: Switch.flip: two flips count as one. */
public class ToggleFlag {
    static class Switch {
        boolean on;
        boolean flip() {
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
