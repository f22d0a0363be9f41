package repaired;

import schedule.Pause;

/** Repaired: Lazy.get is one step now; before: a volatile instance without a second check. */
public class VolatileLazy {
    static class Lazy {
        volatile Object value;
        Object get() {
            if (value == null) {
                Pause.here();
                synchronized (this) {
                    if (value == null) {
                        value = new Object();
                    }
                }
            }
            return value;
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
