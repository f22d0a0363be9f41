package torn;

import schedule.Pause;

/** Torn: Lazy.get: the second check is missing under the lock. */
public class BrokenDoubleCheck {
    static class Lazy {
        volatile Object value;
        Object get() {
            if (value == null) {
                Pause.here();
                synchronized (this) {
                    value = new Object();
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
