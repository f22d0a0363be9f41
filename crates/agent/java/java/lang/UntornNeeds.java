package java.lang;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import jdk.internal.misc.Unsafe;

/** What other threads need of one that {@link UntornSteer} holds up. */
final class UntornNeeds {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long OWNER = U.objectFieldOffset(AbstractOwnableSynchronizer.class, "exclusiveOwnerThread");

    /** States of a thread, in the bits of JVM TI. */
    private static final int ALIVE = 1, RUNNABLE = 4, TIMED = 0x20, SLEEPING = 0x40, PARKED = 0x200, BLOCKED = 0x400;

    private UntornNeeds() {}

    /** Whether a thread is alive and waits for nothing. */
    static boolean isRunnable(Thread thread) {
        return (UntornNatives.threadState(thread) & (ALIVE | RUNNABLE)) == (ALIVE | RUNNABLE);
    }

    /** The lock that this thread holds and another one is blocked on; null if nobody could come at all, else the context. */
    static Object needed(UntornThread c) {
        Object found = null;
        for (UntornThread t : UntornThreads.all()) {
            Thread thread = t == null || t == c ? null : t.thread;
            if (thread == null || t.isHeldUp) continue;
            int state = UntornNatives.threadState(thread);
            if ((state & BLOCKED) != 0) {
                Object monitor = UntornNatives.blockedOn(thread);
                if (monitor != null && Thread.holdsLock(monitor)) return monitor;
            } else if ((state & PARKED) != 0 && (state & TIMED) == 0) {
                Object blocker = LockSupport.getBlocker(thread);
                if (blocker != null && isHeld(blocker)) return blocker;
            } else if (state == 0 || (state & (RUNNABLE | TIMED | SLEEPING)) != 0) {
                // One that has not begun, too, and one of which nobody knows.
                found = c;
            }
        }
        return found;
    }

    /** Whether the running thread holds a lock that {@link #needed} found. */
    static boolean isHeld(Object lock) {
        if (lock == null) return false;
        if (lock instanceof AbstractOwnableSynchronizer) {
            return U.getReference(lock, OWNER) == Thread.currentThread();
        }
        return Thread.holdsLock(lock);
    }
}
