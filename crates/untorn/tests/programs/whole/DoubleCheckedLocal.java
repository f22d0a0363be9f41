package whole;

import schedule.Pause;

/** Whole: double-checked locking by way of a local. */
public class DoubleCheckedLocal {
    static class Lazy {
        private volatile Object value;
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
