package repaired;

import schedule.Pause;

/** Repaired: Lazy.get is one step now; before: the second check is missing under the lock. */
public class BrokenDoubleCheck {
    static class Lazy {
        volatile Object value;
        Object get() {
            Object known = value;
            if (known == null) {
                Pause.here();
                synchronized (this) {
                    known = value;
                    if (known == null) {
                        known = new Object();
                        value = known;
                    }
                }
            }
            return known;
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
