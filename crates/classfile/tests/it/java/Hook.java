package untorn.test;

/** What instrumented code calls; keeps to plain fields so that it can run inside java.base. */
public final class Hook {
    public static long entered, left, caught, seen, events, locked;
    private static Object token;

    private Hook() {}

    public static Object enter() {
        entered++;
        return (entered & 1) == 0 ? null : token;
    }

    public static long stamp() {
        return entered;
    }

    public static void exit() {
        left++;
    }

    public static void caught(Throwable thrown) {
        caught++;
    }

    public static void see(Object receiver) {
        seen++;
    }

    public static void event() {
        events++;
    }

    public static void lock(Object monitor) {
        locked++;
    }

    public static String counts() {
        return "entered=" + (entered > 0) + " left=" + (left > 0) + " caught=" + (caught > 0) + " seen=" + (seen > 0)
            + " events=" + (events > 0) + " locked=" + (locked > 0);
    }
}
