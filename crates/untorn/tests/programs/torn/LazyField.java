package torn;

import schedule.Pause;

/** Torn: Lazy.get: two threads make the instance. */
public class LazyField {
    static class Lazy {
        Object value;
        Object get() {
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
