package torn;

import schedule.Pause;

/** Torn: Lazy.get: a volatile instance without a second check. */
public class VolatileLazy {
    static class Lazy {
        volatile Object value;
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
