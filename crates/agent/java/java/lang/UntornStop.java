package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * {@code Thread.stop}, on the JDKs that have it. The JVM throws into a thread between any two instructions, also in the middle
 * of a record or with a lock of ours held. And not where the thread stands: compiled code that is at a return is told, and
 * throws much later, perhaps in our code. So a thread is <em>sentenced</em> instead: it throws itself, at its next safe point in
 * the program's own code, or before it begins to wait.
 *
 * <p>A thread that waits is woken by the JVM, which then throws exactly where the wait ends; the sentence is taken back while
 * the thread is held. So is one that runs for {@link #LONG} in code that nobody watches, which has no safe point of ours.
 * One that waits for a monitor dies when it has got it, as it does without us; one that is in our own code, when it is back.
 * Nobody waits for these for long: who stops a thread may have what it waits for.
 */
final class UntornStop {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long DEATH = U.objectFieldOffset(UntornThread.class, "death");
    private static final long POLL = UntornThread.POLL;
    /** What the JVM sets as well; -1 if this one has it elsewhere. */
    private static final long INTERRUPTED = UntornWords.fieldOffset(Thread.class, "interrupted");

    /** Where a thread is when it was to be held: held there, running elsewhere, at a monitor, in our code, or it cannot be held at all. */
    private static final int HELD = 0, RUNS = 1, BLOCKED = 2, OURS = 3, UNKNOWN = 4;

    /** Microseconds between two looks, at first and at most. */
    private static final int NAP = 50, LONGEST_NAP = 2000;
    /** Nanoseconds after which a thread that runs is stopped anywhere, and others are left to their sentence. */
    private static final long LONG = 500_000_000L;

    private UntornStop() {}

    /** Throws something into a thread. */
    static void stop(Thread thread, Object what) {
        boolean other = UntornRuntime.on && thread != Thread.currentThread() && thread.isAlive();
        UntornThread c = other ? UntornThreads.of(thread) : null;
        if (c == null || c.silent || !(what instanceof Throwable)) {
            UntornNatives.throwInto(thread, what);
            return;
        }
        Throwable death = (Throwable) what;
        if (!sentence(c, death)) return;
        UntornThread self = UntornThreads.of(Thread.currentThread());
        long begun = System.nanoTime();
        for (int nap = NAP; ; nap = Math.min(nap * 2, LONGEST_NAP)) {
            if (self != null) self.poll();
            UntornEpoch.backOff(nap);
            if (c.death != death || !thread.isAlive()) return;
            boolean isLong = System.nanoTime() - begun > LONG;
            int where = UntornNatives.hold(thread, !isLong);
            if (where == HELD) {
                try {
                    if (U.compareAndSetReference(c, DEATH, death, null)) UntornNatives.throwInto(thread, death);
                } finally {
                    UntornNatives.goOn(thread);
                }
                return;
            }
            if (!isLong) continue;
            if (where == UNKNOWN && U.compareAndSetReference(c, DEATH, death, null)) UntornNatives.throwInto(thread, death);
            return;
        }
    }

    /** The thread of that context dies at its next safe point in the program's own code; false if it is about to already. */
    static boolean sentence(UntornThread c, Throwable death) {
        if (!U.compareAndSetReference(c, DEATH, null, death)) return false;
        // After it: who takes the poll back sees the sentence.
        U.putIntVolatile(c, POLL, 1);
        return true;
    }

    /** What this thread is to throw now; null if that was taken back. */
    static Throwable executed(UntornThread c) {
        Throwable death = (Throwable) U.getAndSetReference(c, DEATH, null);
        if (death != null && INTERRUPTED >= 0) U.putBooleanVolatile(Thread.currentThread(), INTERRUPTED, true);
        return death;
    }
}
