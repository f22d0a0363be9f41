package torn;

import schedule.Pause;

/** Torn: LazyStatic.instance: two threads make the static instance. */
public class LazyStatic {
    static Object instance;
    static Object instance() {
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
