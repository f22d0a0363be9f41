package java.lang;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.AbstractQueuedLongSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import jdk.internal.misc.Unsafe;

/**
 * Locks of the platform, which tell of themselves: hooks in their methods call this if they carry an entry.
 *
 * They get one when watched code first uses them. A hold that began before stays unrecorded to its end, and
 * so does one of a lock that implements {@link Lock} in code of its own: what that does is seen if it is made of these.
 * The site of an event is that of the watched call which led to it, or the lock's own method if none did.
 *
 * <p>A thread for which the stack gets too short between what a lock does and what is recorded of it would leave the lock
 * held, or the reader believing so. So each hook that comes first makes sure of its stack for all that follows, the platform's
 * own part included ({@link UntornStack}).
 *
 * <p>A {@link StampedLock} has no owner. Once a thread gives up a stamp that another one took, it is no lock any more, as
 * far as is recorded: it orders threads as before ({@link UntornEntry#cross}). The first thread stays its holder until it
 * gives up what it takes later, if it ever does.
 */
final class UntornLocks {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final String PLACE = "$untornLock";

    private UntornLocks() {}

    /**
     * Where locks keep what carries their entry, and that its entry; found on first use. No class initializer does it: one
     * that fails for want of memory fails for ever, and in the program's face.
     */
    private static long ofLock, ofBoth, ofRead, ofWrite, ofCondition, ofLongCondition, ofQueued, ofStamped;
    /** Whether this platform's locks are built as expected and could be edited; if not, none is watched. */
    private static volatile int state;
    private static final int UNKNOWN = 0, FOUND = 1, NOT_FOUND = 2;

    private static boolean find() {
        ofLock = offset(ReentrantLock.class, "sync");
        ofBoth = offset(ReentrantReadWriteLock.class, "sync");
        ofRead = offset(ReentrantReadWriteLock.ReadLock.class, "sync");
        ofWrite = offset(ReentrantReadWriteLock.WriteLock.class, "sync");
        ofCondition = offset(AbstractQueuedSynchronizer.ConditionObject.class, "this$0");
        ofLongCondition = offset(AbstractQueuedLongSynchronizer.ConditionObject.class, "this$0");
        ofQueued = offset(AbstractOwnableSynchronizer.class, PLACE);
        ofStamped = offset(StampedLock.class, PLACE);
        boolean found = ofLock > 0 && ofBoth > 0 && ofRead > 0 && ofWrite > 0 && ofCondition > 0
                && ofLongCondition > 0 && ofQueued > 0 && ofStamped > 0;
        state = found ? FOUND : NOT_FOUND;
        return found;
    }

    private static long offset(Class<?> k, String field) {
        return UntornWords.fieldOffset(k, field);
    }

    /** What views and conditions of a lock have in common and its hooks look at; null for what is no lock of the platform. */
    private static Object carrier(Object lock) {
        if (lock instanceof ReentrantLock) return U.getReference(lock, ofLock);
        if (lock instanceof ReentrantReadWriteLock.ReadLock) return U.getReference(lock, ofRead);
        if (lock instanceof ReentrantReadWriteLock.WriteLock) return U.getReference(lock, ofWrite);
        if (lock instanceof ReentrantReadWriteLock) return U.getReference(lock, ofBoth);
        if (lock instanceof StampedLock) return lock;
        if (lock instanceof AbstractQueuedSynchronizer.ConditionObject) {
            return known(U.getReference(lock, ofCondition));
        }
        if (lock instanceof AbstractQueuedLongSynchronizer.ConditionObject) {
            return known(U.getReference(lock, ofLongCondition));
        }
        return lock instanceof Lock || lock instanceof ReadWriteLock ? viewed(lock) : null;
    }

    /** A synchronizer, if it is that of a lock of the platform. */
    private static Object known(Object queued) {
        if (U.getReference(queued, ofQueued) != null) return queued;
        Class<?> host = queued.getClass().getNestHost();
        return host == ReentrantLock.class || host == ReentrantReadWriteLock.class ? queued : null;
    }

    /** Classes that are views of a {@link StampedLock}, with where they keep it, and the others that were met; -1 for these. */
    private static final ClassValue<Long> VIEWS = new ClassValue<Long>() {
        @Override
        protected Long computeValue(Class<?> k) {
            return k.getNestHost() == StampedLock.class ? UntornWords.fieldOffset(k, "this$0") : -1;
        }
    };

    private static Object viewed(Object lock) {
        long offset = VIEWS.get(lock.getClass());
        return offset < 0 ? null : U.getReference(lock, offset);
    }

    /** Watched code is about to use a lock; without memory to look at it, it is watched from a later use on. */
    static void watch(Object lock, int site, UntornThread c) {
        if (c.silent || state == NOT_FOUND) return;
        try {
            if (state == FOUND || find()) look(lock, site, c);
        } catch (OutOfMemoryError | LinkageError noMemory) {
            // Neither is the program's business: an error of linkage is what is left of such a one in the platform.
        }
    }

    private static void look(Object lock, int site, UntornThread c) {
        Object carrier = carrier(lock);
        if (carrier == null) return;
        c.lockSite = site + 1;
        long place = carrier instanceof StampedLock ? ofStamped : ofQueued;
        if (U.getReferenceAcquire(carrier, place) != null) return;
        UntornShadow.abandon(c);
        boolean shares = carrier instanceof StampedLock
                || carrier.getClass().getNestHost() == ReentrantReadWriteLock.class;
        boolean own = lock instanceof ReentrantLock || lock instanceof ReentrantReadWriteLock
                || lock instanceof StampedLock;
        Class<?> called = own ? lock.getClass() : carrier.getClass().getNestHost();
        UntornEntry entry = UntornTable.lock(carrier, called, c);
        if (entry == null) return;
        // One that readers share is never one thread's alone.
        if (shares) entry.user = UntornEntry.MANY;
        U.compareAndSetReference(carrier, place, null, entry);
    }

    /** The site of the watched call that led here, or one's own. */
    private static int site(int own, UntornThread c) {
        int site = c.lockSite;
        c.lockSite = 0;
        return site == 0 ? own : site - 1;
    }

    private static UntornThread context() {
        UntornThread c = UntornThread.current();
        if (!c.silent) UntornShadow.abandon(c);
        return c;
    }

    static void taken(boolean held, Object entry, int mode, int site) {
        UntornThread c = context();
        int at = site(site, c);
        if (held && !c.silent) take((UntornEntry) entry, mode, at, c);
    }

    static void given(Object entry, int mode, int site) {
        UntornStack.forGiving();
        UntornThread c = context();
        int at = site(site, c);
        if (!c.silent) give((UntornEntry) entry, mode, at, c);
    }

    private static void take(UntornEntry entry, int mode, int site, UntornThread c) {
        if (mode == UntornRuntime.EXCLUSIVE) {
            UntornSync.acquired(entry, site, c);
        } else if (mode == UntornRuntime.SHARED) {
            UntornSync.acquiredShared(entry, site, c);
        }
    }

    private static void give(UntornEntry entry, int mode, int site, UntornThread c) {
        if (mode == UntornRuntime.EXCLUSIVE) {
            UntornSync.releasing(entry, site, c);
        } else if (mode == UntornRuntime.SHARED) {
            UntornSync.releasingShared(entry, site, c);
        }
    }

    private static int mode(long stamp) {
        if (StampedLock.isWriteLockStamp(stamp)) return UntornRuntime.EXCLUSIVE;
        return StampedLock.isReadLockStamp(stamp) ? UntornRuntime.SHARED : UntornRuntime.OPTIMISTIC;
    }

    /**
     * Before a stamp is converted. From the exclusive hold, and to none at all, a valid stamp always can be, and what is
     * given up must be told of before others see it; what it becomes is taken first, as there is no moment without.
     */
    static void converting(long stamp, Object lock, int to, int site) {
        if (to == UntornRuntime.OPTIMISTIC) UntornStack.forGiving();
        else UntornStack.forTaking();
        UntornThread c = context();
        UntornEntry entry = (UntornEntry) lock;
        int from = mode(stamp);
        if (c.silent || from == to || from == UntornRuntime.OPTIMISTIC || !isValid(entry, stamp)) return;
        boolean isHeld = isHeld(entry, from, c);
        if (!isHeld) {
            convertUnrecorded(entry, from, to, c);
            return;
        }
        if (to == UntornRuntime.EXCLUSIVE) return;
        int at = site(site, c);
        take(entry, to, at, c);
        give(entry, from, at, c);
    }

    /** The same for a hold that the reader does not know of as this thread's. */
    private static void convertUnrecorded(UntornEntry entry, int from, int to, UntornThread c) {
        boolean leftOut = from == UntornRuntime.SHARED && c.reads.hasLeftOut(entry);
        if (!leftOut) entry.cross();
        // After a conversion to the exclusive hold it is given up.
        if (leftOut && to == UntornRuntime.OPTIMISTIC) c.reads.dropLeftOut(entry);
        if (to == UntornRuntime.SHARED) c.reads.addLeftOut(entry);
    }

    /** After it: to the exclusive hold nobody sees what was given up before the conversion is over. */
    static void converted(long result, long stamp, Object lock, int to, int site) {
        UntornThread c = context();
        int at = site(site, c);
        int from = mode(stamp);
        if (c.silent || result == 0 || from == to) return;
        if (to != UntornRuntime.EXCLUSIVE && from != UntornRuntime.OPTIMISTIC) return;
        take((UntornEntry) lock, to, at, c);
        give((UntornEntry) lock, from, at, c);
    }

    /** Whether a stamp stands for a hold that there is. */
    private static boolean isValid(UntornEntry entry, long stamp) {
        Object lock = entry.get();
        return lock instanceof StampedLock && ((StampedLock) lock).validate(stamp);
    }

    /** Whether this thread was seen to take a hold of that kind. */
    private static boolean isHeld(UntornEntry entry, int mode, UntornThread c) {
        return mode == UntornRuntime.SHARED ? c.reads.holds(entry) : entry.recorded > 0 && entry.holder == c.id;
    }

    static void waits(Object entry, int site) {
        UntornStack.forTaking();
        UntornThread c = context();
        int at = site(site, c);
        if (!c.silent) UntornSync.waits((UntornEntry) entry, at, c);
    }

    static void woken() {
        UntornSync.woken(context());
    }

    static void notified(Object entry, int site) {
        UntornStack.forGiving();
        UntornThread c = context();
        int at = site(site, c);
        if (!c.silent) UntornSync.notifies((UntornEntry) entry, at, c);
    }
}
