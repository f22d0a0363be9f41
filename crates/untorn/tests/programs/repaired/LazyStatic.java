package repaired;

import schedule.Pause;

/** Repaired: LazyStatic.instance is one step now; before: two threads make the static instance. */
public class LazyStatic {
    static Object instance;
    static synchronized Object instance() {
        if (instance == null) {
            Pause.here();
            instance = new Object();
        }
        return instance;
    }

    public static void main(String[] args) {
        Pause.race(() -> instance(), () -> instance());
    }
}
