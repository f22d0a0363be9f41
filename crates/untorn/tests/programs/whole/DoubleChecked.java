package whole;

import schedule.Pause;

/** Whole: double-checked locking of a volatile field. */
public class DoubleChecked {
    static class Lazy {
        private volatile Object value;
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
