package java.lang;

import jdk.internal.vm.annotation.DontInline;

/**
 * What methods of the platform call: its locks, {@link Thread}, collections and atomics that are made, and reflection.
 * The ground rules are those of {@link UntornRuntime}.
 */
public final class UntornHooks {
    private UntornHooks() {}

    // ---- hooks in java.util.concurrent.locks, for locks that carry an entry; the site is the hook's own ---------------

    /** At each return of a method that takes a lock, with its result; {@code mode} is {@link UntornRuntime#EXCLUSIVE} or {@link UntornRuntime#SHARED}. */
    @DontInline
    public static void lockTaken(Object entry, int mode, int site) {
        if (UntornRuntime.on) UntornLocks.taken(true, entry, mode, site);
    }

    @DontInline
    public static void lockTaken(boolean held, Object entry, int mode, int site) {
        if (UntornRuntime.on) UntornLocks.taken(held, entry, mode, site);
    }

    @DontInline
    public static void lockTaken(long stamp, Object entry, int mode, int site) {
        if (UntornRuntime.on) UntornLocks.taken(stamp != 0, entry, mode, site);
    }

    /** At the entry of a method that gives a lock up. */
    @DontInline
    public static void lockGiven(Object entry, int mode, int site) {
        if (UntornRuntime.on) UntornLocks.given(entry, mode, site);
    }

    /** At the entry and at each return of a method that turns one kind of hold into another, or into {@link UntornRuntime#OPTIMISTIC}. */
    @DontInline
    public static void lockConverting(long stamp, Object entry, int mode, int site) {
        if (UntornRuntime.on) UntornLocks.converting(stamp, entry, mode, site);
    }

    @DontInline
    public static void lockConverted(long result, long stamp, Object entry, int mode, int site) {
        if (UntornRuntime.on) UntornLocks.converted(result, stamp, entry, mode, site);
    }

    /** At the entry of a method that waits for a condition, and however it ends. */
    @DontInline
    public static void conditionWaits(Object entry, int site) {
        if (UntornRuntime.on) UntornLocks.waits(entry, site);
    }

    @DontInline
    public static void conditionWoken(Object entry, int site) {
        if (UntornRuntime.on) UntornLocks.woken();
    }

    /** At the entry of a method that signals a condition. */
    @DontInline
    public static void conditionNotified(Object entry, int site) {
        if (UntornRuntime.on) UntornLocks.notified(entry, site);
    }

    // ---- hooks in java.lang.Thread --------------------------------------------------------------------------------

    /** At the entry of the methods that start a thread. */
    public static void fork(Thread child) {
        if (UntornRuntime.on) UntornSync.fork(child);
    }

    /** At the normal return of the methods that join a thread; does nothing while it is alive. */
    public static void joined(Thread child) {
        if (UntornRuntime.on) UntornSync.joined(child);
    }

    /** When a virtual thread is about to leave its carrier: nobody can look at it then. */
    public static void parking(Thread thread) {
        UntornThread c = UntornRuntime.on ? UntornThreads.of(thread) : null;
        if (c != null && c.deferred != 0) UntornShadow.abandon(c);
    }

    /** Before this thread sleeps, in the methods of the platform in which threads do. One that was stopped does not begin to. */
    public static void sleeping() {
        if (!UntornRuntime.on) return;
        UntornThread c = UntornThreads.of(Thread.currentThread());
        if (c == null) return;
        UntornEpoch.blocks(c);
        if (c.death != null) UntornRuntime.die(c);
    }

    /** Before it waits for a monitor that is not free; called by the agent, and nobody may throw there. */
    private static void blocking() {
        if (!UntornRuntime.on) return;
        UntornThread c = UntornThreads.of(Thread.currentThread());
        if (c != null) UntornEpoch.blocks(c);
    }

    /** When it is awake again, in whatever way. */
    public static void awake() {
        if (!UntornRuntime.on) return;
        UntornThread c = UntornThreads.of(Thread.currentThread());
        if (c != null) UntornEpoch.unblocks(c);
    }

    /** Instead of the native method by which {@code Thread.stop} throws something into a thread. */
    public static void stop(Thread thread, Object death) {
        UntornStop.stop(thread, death);
    }

    /**
     * {@link #blocking} or {@link #awake} threw this around a contended monitor, or it was thrown into the thread just before:
     * nobody may throw there, as compiled code has no handler at a monitor and the JVM ends with it. A thread that was stopped
     * dies at its next safe point; whether this is that.
     */
    private static boolean thrown(Throwable what) {
        UntornThread c = UntornThreads.of(Thread.currentThread());
        return c != null && c.dies(what);
    }

    /** When a thread is about to end. */
    public static void exited(Thread thread) {
        if (UntornRuntime.on) UntornSync.exited(thread);
    }

    // ---- hooks in constructors ------------------------------------------------------------------------------------

    /** The first word of a collection or atomic that this thread makes. */
    public static long born() {
        if (!UntornRuntime.on) return 0;
        UntornThread c = UntornThreads.of(Thread.currentThread());
        return c != null && c.born != 0 ? c.born | UntornPlaces.RECORDED : 0;
    }

    // ---- hooks in jdk.internal.reflect.Reflection -----------------------------------------------------------------

    /** The names of our fields and methods begin so, and reflection does not show them. */
    static final String PREFIX = "$untorn";

    /** At each return of {@code filterFields}. */
    public static java.lang.reflect.Field[] visible(java.lang.reflect.Field[] fields) {
        int kept = 0;
        for (java.lang.reflect.Field field : fields) {
            if (!field.getName().startsWith(PREFIX)) kept++;
        }
        if (kept == fields.length) return fields;
        java.lang.reflect.Field[] result = new java.lang.reflect.Field[kept];
        kept = 0;
        for (java.lang.reflect.Field field : fields) {
            if (!field.getName().startsWith(PREFIX)) result[kept++] = field;
        }
        return result;
    }

    /** At each return of {@code filterMethods}. */
    public static java.lang.reflect.Method[] visible(java.lang.reflect.Method[] methods) {
        int kept = 0;
        for (java.lang.reflect.Method method : methods) {
            if (!method.getName().startsWith(PREFIX)) kept++;
        }
        if (kept == methods.length) return methods;
        java.lang.reflect.Method[] result = new java.lang.reflect.Method[kept];
        kept = 0;
        for (java.lang.reflect.Method method : methods) {
            if (!method.getName().startsWith(PREFIX)) result[kept++] = method;
        }
        return result;
    }
}
