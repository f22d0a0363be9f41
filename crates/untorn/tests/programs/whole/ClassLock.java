package whole;

import schedule.Pause;

/** Whole: a static field under the lock of its class. */
public class ClassLock {
    private static int last;
    static synchronized int next() {
        int id = last;
        Pause.here();
        last = id + 1;
        return id;
    }

    public static void main(String[] args) {
        Pause.race(() -> next(), () -> next());
    }
}
