package schedule;

/** The same programs without forced schedules, as their authors would have written them. */
public final class Pause {
    private Pause() {}

    public static void race(Runnable first, Runnable second) {
        new Thread(first, "first").start();
        new Thread(second, "second").start();
    }

    public static void together(Runnable first, Runnable second) {
        race(first, second);
    }

    public static void here() {}
}
