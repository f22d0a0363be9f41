package java.lang;

import jdk.internal.vm.annotation.DontInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;

/**
 * The contexts of all living threads: made, found, and forgotten.
 */
final class UntornThreads {
    static final long CONTEXT = U.objectFieldOffset(Thread.class, "$untornContext");
    /** Living contexts by thread id; a dead one's place is null again. Replaced when it grows. */
    static volatile UntornThread[] contexts = new UntornThread[64];
    static int highest = -1;
    static int living;
    /** Thread and final position of the thread that exited last, packed as an edge; 0 for none. */
    static volatile long lastExit;

    static UntornThread of(Thread thread) {
        return (UntornThread) U.getReferenceAcquire(thread, CONTEXT);
    }

    /** Gives a thread its context; of two threads that try, one wins. */
    @DontInline
    static UntornThread attach(Thread thread, long firstEdge) {
        UntornThread.probe();
        try {
            return make(thread, firstEdge);
        } catch (OutOfMemoryError noMemory) {
            return NOBODY;
        }
    }

    /** For a thread while there is no memory for its own context. */
    private static final UntornThread NOBODY = new UntornThread((1 << THREAD_BITS) - 1);

    static {
        NOBODY.silence();
        NOBODY.plain = true;
    }

    static UntornThread make(Thread thread, long firstEdge) {
        if (!UntornRuntime.on) return mute(thread);
        long number = U.getAndAddLong(null, memory + CONTROL_NEXT_THREAD, 1);
        if (number >= UntornLimits.THREADS) {
            UntornLimits.reached(UntornLimits.OF_THREADS);
            return mute(thread);
        }
        UntornThread made = new UntornThread((int) number);
        made.firstEdge = firstEdge;
        made.thread = thread;
        made.skip = UntornMode.SECOND && !UntornMode.UNARY;
        if (UntornMode.FIRST) {
            made.beginsFirstRun();
        }
        UntornEpoch.first(made);
        register(made);
        if (!U.compareAndSetReference(thread, CONTEXT, null, made)) {
            // Its number stays unused; numbers are plenty, and two threads rarely race to create one context.
            forget(made);
            return (UntornThread) U.getReferenceAcquire(thread, CONTEXT);
        }
        made.plain = UntornNatives.nameThread(made.id, thread.getName());
        return made;
    }

    /** A context that writes nothing, for a thread that nobody can hear; each thread has its own. */
    private static UntornThread mute(Thread thread) {
        UntornThread context = new UntornThread((1 << THREAD_BITS) - 1);
        context.silence();
        // While the VM starts the thread may be heard later, so the context is not kept.
        if (memory != 0) U.compareAndSetReference(thread, CONTEXT, null, context);
        return context;
    }

    private static void register(UntornThread context) {
        globalLock();
        try {
            UntornThread[] all = contexts;
            if (context.id >= all.length) {
                UntornThread[] grown = new UntornThread[Math.max(context.id + 1, all.length * 2)];
                System.arraycopy(all, 0, grown, 0, highest + 1);
                all = grown;
            }
            all[context.id] = context;
            living++;
            if (context.id > highest) highest = context.id;
            // A volatile store, so that who reads the array next sees the context too.
            contexts = all;
        } finally {
            globalUnlock();
        }
    }

    private static void forget(UntornThread context) {
        globalLock();
        try {
            contexts[context.id] = null;
            living--;
        } finally {
            globalUnlock();
        }
    }

    /** How many threads live, about. */
    static int count() {
        return living;
    }

    /** All contexts by thread id, with gaps. */
    static UntornThread[] all() {
        return contexts;
    }

    /** The context of a living thread by id, or null. */
    static UntornThread byId(int id) {
        UntornThread[] all = contexts;
        return id < all.length ? all[id] : null;
    }

    /** A point after all that threads which have ended wrote, packed as an edge. */
    static long exits() {
        U.loadFence();
        return lastExit;
    }
}
