package whole;

import schedule.Pause;

/** Whole: double-checked locking of a static field. */
public class DoubleCheckedStatic {
    private static volatile Object value;
    static Object get() {
        Object known = value;
        if (known == null) {
            Pause.here();
            synchronized (DoubleCheckedStatic.class) {
                known = value;
                if (known == null) {
                    known = new Object();
                    value = known;
                }
            }
        }
        return known;
    }

    public static void main(String[] args) {
        Pause.race(() -> get(), () -> get());
    }
}
