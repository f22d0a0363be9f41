package repaired;

import schedule.Pause;

/** Repaired: ClassLockTwice.increment is one step now; before: static synchronized get and set. */
public class ClassLockTwice {
    private static int n;
    static synchronized int get() {
        return n;
    }
    static synchronized void set(int value) {
        n = value;
    }
    static void increment() {
        synchronized (ClassLockTwice.class) {
            int was = get();
            Pause.here();
            set(was + 1);
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> increment(), () -> increment());
    }
}
