package untorn.exercise;

import java.lang.reflect.Method;

/**
 * Stops one thread before a chosen access of a method, in the JVM that the agent was loaded into for this
 * ({@code crates/agent/src/steps.rs}).
 */
final class Steps {
    private static final boolean THERE = probe();

    private Steps() {}

    /** Whether threads can be stopped in this process. */
    static boolean areThere() {
        return THERE;
    }

    private static boolean probe() {
        try {
            return isThere();
        } catch (UnsatisfiedLinkError none) {
            return false;
        }
    }

    private static native boolean isThere();

    /** From here on the calling thread counts the points of a method and what that calls, and stops at one; 0: it only counts. */
    static native void begin(Method method, int stop);

    /** How many points there were. */
    static native int end();

    /** Where the points were, in their order: equal numbers for equal places, whose last byte is the instruction. */
    static native int[] trace();

    static native boolean isStopped();

    /** The thread that was stopped goes on. */
    static native void go();
}
