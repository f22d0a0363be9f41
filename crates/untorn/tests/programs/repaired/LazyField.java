package repaired;

import schedule.Pause;

/** Repaired: Lazy.get is one step now; before: two threads make the instance. */
public class LazyField {
    static class Lazy {
        Object value;
        synchronized Object get() {
            if (value == null) {
                Pause.here();
                value = new Object();
            }
            return value;
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
