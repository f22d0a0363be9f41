package java.lang;

/**
 * For tests: errors in the runtime itself. Nothing calls this, unless a test had the runtime defined with calls of it at every
 * allocation, or where slow paths try whether there is enough stack ({@code src/faults.rs}).
 */
final class UntornFaults {
    /** One time in so many. */
    private static final int EVERY = (int) UntornNatives.limit("failures", Integer.MAX_VALUE);
    /** Made now: there is no memory later. */
    private static final OutOfMemoryError NO_MEMORY = new OutOfMemoryError("injected");
    private static final StackOverflowError NO_STACK = new StackOverflowError("injected");
    /** Racy: nobody needs to know. */
    private static int count;

    private UntornFaults() {}

    private static boolean isDue() {
        return UntornRuntime.on && ++count % EVERY == 0;
    }

    /** The next instruction allocates. */
    static void allocates() {
        if (isDue()) throw NO_MEMORY;
    }

    /** Here is where the stack is found to be full. */
    static void probes() {
        if (isDue()) throw NO_STACK;
    }
}
