package torn;

import schedule.Pause;

/** Torn: ClassLockTwice.increment: static synchronized get and set. */
public class ClassLockTwice {
    private static int n;
    static synchronized int get() {
        return n;
    }
    static synchronized void set(int value) {
        n = value;
    }
    static void increment() {
        int was = get();
        Pause.here();
        set(was + 1);
    }

    public static void main(String[] args) {
        Pause.race(() -> increment(), () -> increment());
    }
}
