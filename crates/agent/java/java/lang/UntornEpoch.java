package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Ownership epochs, under which threads own shadow words, and the coordination that ends them.
 *
 * <p>A word that is owned names an epoch, and a thread uses such a word without any synchronization while the epoch is
 * its current one ({@link UntornThread#mine}). Who wants an object of another thread has that thread's epoch replaced
 * and then makes sure that the thread has passed a <em>safe point</em>: a moment at which it is in no access, and after
 * which it reads epoch and word from memory again. From then on the old epoch has <em>ended</em>: nobody uses a word under
 * it any more, and everybody may claim such words with a compare-and-set. So one coordination hands over all that a
 * thread owned so far, also what a consumer will find in a minute, and one with a blocked thread is never repeated.
 * The old owner claims what it still uses again, one compare-and-set per object.
 * (Octet, as section 3.2.1 of the DoubleChecker paper describes it, coordinates once per object instead.)
 *
 * <p>Safe points, in the order in which they are tried:
 * <ul>
 * <li>A poll, at the entry of an instrumented method that calls others, at a loop's end and in every slow path. It is an
 *     opaque or volatile read, over which a compiler moves no memory access. This is the paper's explicit protocol.
 * <li>The thread has said that it blocks ({@link #blocks}): it parks, waits for a contended monitor or on one, or for
 *     the network. This is the paper's implicit protocol. Who asks and who wakes change one field atomically, so the
 *     one that asks finds the thread blocked, and what it wrote before is read when the thread is back, or it does not.
 * <li>The thread is in a native method or has no frame, or waits for a monitor: it waits for something of which it
 *     could not tell. It does nothing for this: who asks looks, with JVM TI, after a {@code membarrier} that puts the
 *     new epoch before everything the thread does next. Inside an access the only native methods are those of
 *     {@code Unsafe}, as the interpreter calls them; they do not count, {@code park} excepted, and compilers keep nothing
 *     in registers over calls and monitors.
 * </ul>
 * A thread that stands anywhere else is about to reach a poll. If it does not for {@link #PATIENCE} (it waits for the
 * initialization of a class, or runs long in code that is not watched), the object in question is tracked no more:
 * nobody records accesses to it from then on. That costs findings on this object and makes no false one, since leaving
 * an access out only takes conflicts away; it is counted. So nobody waits for ever, whatever the other thread does.
 *
 * <p>HotSpot's own safe points are none of these, since a thread can be stopped there in the middle of an access.
 *
 * <p>A thread that coordinates polls, so two can ask each other. No class is loaded between the record of an
 * access and the access, so there is no way into other native code from within one.
 */
final class UntornEpoch {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long POLL = UntornThread.POLL;
    private static final long NUMBER = U.objectFieldOffset(UntornThread.class, "requestNumber");
    private static final long LOCK = U.objectFieldOffset(UntornThread.class, "requestLock");
    private static final long REQUEST = U.objectFieldOffset(UntornThread.class, "request");
    private static final long BLOCKED_STATE = U.objectFieldOffset(UntornThread.class, "blocked");
    private static final long IMPLICIT = U.objectFieldOffset(UntornThread.class, "implicitNumber");
    private static final long MINE = U.objectFieldOffset(UntornThread.class, "mine");

    /** Nobody's word. */
    static final long NONE = -1;

    /** What a request asks for: nothing, being answered; the end of an epoch; or what the thread may read as read-shared. */
    private static final int NOTHING = 0, REVOKES = 1, UNSHARES = 2;

    /** Epochs fill the place of a thread in a word; 0 and the last one are nobody's. */
    private static final int LIMIT = UntornLimits.OWNERS;
    /** An epoch that is used: this bit and the thread. Of a dead one: thread and position, packed as an edge. */
    private static final long CURRENT = 1L << 63;
    /** The thread did not respond. */
    private static final long UNANSWERED = 1L << 62;

    private static final int SPINS = 300, GLANCES = 16;
    /** Naps before a thread is given up, about a fifth of a second; it may only be waiting for a processor. */
    static final int PATIENCE = 2000;
    /** Naps before the first look, since a thread that sleeps has most often said so, and from one look to the next. */
    private static final int NAPS = 2, LOOKS = 8;

    private static final long TABLE = UntornShadow.OPTIMISTIC ? U.allocateMemory(LIMIT * 8L) : 0;
    private static final long COUNTER = U.allocateMemory(8);

    static {
        U.putInt(COUNTER, 1);
    }

    private UntornEpoch() {}

    // ---- epochs ---------------------------------------------------------------------------------------------------

    /** Gives a new thread its epoch. Virtual threads have none: nobody could look at them all. */
    static void first(UntornThread c) {
        if (UntornShadow.OPTIMISTIC && !isVirtual(c.thread)) renew(c);
    }

    private static boolean isVirtual(Thread thread) {
        for (Class<?> k = thread.getClass(); k != Thread.class; k = k.getSuperclass()) {
            if (k.getName().equals("java.lang.BaseVirtualThread")) return true;
        }
        return false;
    }

    /** A fresh epoch for a thread; none once there are none left, and then it owns nothing any more. */
    private static void renew(UntornThread t) {
        int number = U.getIntVolatile(null, COUNTER);
        if (number < LIMIT) number = U.getAndAddInt(null, COUNTER, 1);
        if (number >= LIMIT) {
            t.born = 0;
            U.putLongVolatile(t, MINE, NONE);
            return;
        }
        U.putLongVolatile(null, at(number), CURRENT | t.id);
        long word = (long) number << UntornRecord.OBJECT_BITS;
        t.born = word;
        U.putLongVolatile(t, MINE, word);
    }

    private static long at(int epoch) {
        return TABLE + epoch * 8L;
    }

    /** The thread whose epoch this is, if it is in use; null if it has ended. */
    static UntornThread owner(int epoch) {
        long known = U.getLongVolatile(null, at(epoch));
        // A thread that has ended has no context, and all its epochs have ended.
        return known < 0 ? UntornThreads.byId((int) known) : null;
    }

    /** What the thread of an ended epoch wrote under it, packed as an edge. */
    static long end(int epoch) {
        long known = U.getLongVolatile(null, at(epoch));
        return known >= 0 ? known : UntornThreads.exits();
    }

    /** The thread of an ended epoch. */
    static int formerOwner(int epoch) {
        long known = U.getLongVolatile(null, at(epoch));
        return known >= 0 ? (int) (known >>> UntornRecord.POSITION_BITS) : (int) known;
    }

    // ---- coordination -------------------------------------------------------------------------------------------------

    /**
     * Returns when that thread has passed a safe point since the call; with an epoch, when that one has ended.
     * False if the thread is somewhere else for too long.
     */
    @DontInline
    static boolean coordinate(UntornThread t, int epoch, UntornThread c) {
        UntornThread.probe();
        for (int tries = 1; !lockRequests(t); tries++) {
            c.poll();
            if (epoch != 0 && owner(epoch) == null) return true;
            UntornMemory.pause(tries);
        }
        try {
            if (epoch != 0) {
                long known = U.getLongVolatile(null, at(epoch));
                if (known >= 0) return true;
                boolean silent = (known & UNANSWERED) != 0 && U.getIntVolatile(t, REQUEST) != NOTHING;
                if (silent && !isAtSafePoint(t)) return false;
                if (t.mine == (long) epoch << UntornRecord.OBJECT_BITS) renew(t);
            }
            boolean responded = isBlocked(t) || request(t, epoch != 0 ? REVOKES : UNSHARES, c);
            if (epoch != 0) {
                U.putLongVolatile(null, at(epoch), responded ? t.past() : CURRENT | UNANSWERED | t.id);
            }
            return responded;
        } finally {
            unlockRequests(t);
        }
    }

    /** Asks a thread to pass a safe point, and waits until it has. */
    private static boolean request(UntornThread t, int what, UntornThread c) {
        int number = t.requestNumber + 1;
        U.putIntVolatile(t, REQUEST, what);
        U.putIntVolatile(t, POLL, 1);
        // Last: who sees the number sees the poll.
        U.putIntVolatile(t, NUMBER, number);
        return awaitResponse(t, what, number, c);
    }

    /** Only one thread at a time asks another; whether this one may now. */
    static boolean lockRequests(UntornThread t) {
        return U.compareAndSetInt(t, LOCK, 0, 1);
    }

    static void unlockRequests(UntornThread t) {
        U.putIntVolatile(t, LOCK, 0);
    }

    private static boolean awaitResponse(UntornThread t, int what, int number, UntornThread c) {
        // Who was blocked the last time is most often still blocked.
        int start = t.implicitNumber == number - 1 ? SPINS + NAPS : 0;
        for (int tries = start; ; tries++) {
            if (U.getIntVolatile(t, REQUEST) == NOTHING || UntornThreads.byId(t.id) != t) return true;
            c.poll();
            if (tries < SPINS) {
                // It may block only now.
                if (tries % GLANCES == 0 && isBlocked(t)) U.compareAndSetInt(t, REQUEST, what, NOTHING);
                Thread.onSpinWait();
                continue;
            }
            if ((tries - SPINS) % LOOKS == NAPS && isAtSafePoint(t)) {
                U.putIntVolatile(t, IMPLICIT, number);
                U.compareAndSetInt(t, REQUEST, what, NOTHING);
                continue;
            }
            if (tries - SPINS > PATIENCE) return false;
            UntornShadow.owe();
            backOff(UntornMemory.NAP);
        }
    }

    /** Whether a thread is at a safe point now by what it waits for. */
    static boolean isAtSafePoint(UntornThread t) {
        Thread thread = t.thread;
        return thread == null || isBlocked(t) || UntornNatives.isAway(thread);
    }

    // ---- blocked threads ----------------------------------------------------------------------------------------------------

    /** The lowest bit of {@link UntornThread#blocked}; who looks adds to the others, so that the thread sees it was looked at. */
    private static final int BLOCKED = 1, LOOKED_AT = 2;

    /**
     * This thread is about to block, and touches nothing that is watched until {@link #unblocks}. The stack that this needs
     * is made sure of here.
     */
    @DontInline
    static void blocks(UntornThread c) {
        UntornThread.probe();
        if (c.mine == NONE) return;
        if (c.deferred != 0) UntornShadow.abandon(c);
        U.getAndBitwiseOrInt(c, BLOCKED_STATE, BLOCKED);
    }

    @DontInline
    static void unblocks(UntornThread c) {
        if ((c.blocked & BLOCKED) != 0) U.getAndBitwiseAndInt(c, BLOCKED_STATE, ~BLOCKED);
    }

    /** A little sleep of this thread, which waits for another one and has polled. */
    static void backOff(int micros) {
        backOff(micros, false);
    }

    /** The same, of one that waits for the reader if it is for room in the log. */
    static void backOff(int micros, boolean forRoom) {
        UntornThread c = UntornThreads.of(Thread.currentThread());
        if (c == null || c.mine == NONE) {
            UntornNatives.nap(micros, forRoom);
            return;
        }
        try {
            U.getAndBitwiseOrInt(c, BLOCKED_STATE, BLOCKED);
            UntornNatives.nap(micros, forRoom);
        } finally {
            unblocks(c);
        }
    }

    private static boolean isBlocked(UntornThread t) {
        return (U.getIntVolatile(t, BLOCKED_STATE) & BLOCKED) != 0
                && (U.getAndAddInt(t, BLOCKED_STATE, LOOKED_AT) & BLOCKED) != 0;
    }

    /** Whether any other thread may read what is read-shared without looking at the newest transition first. */
    static boolean hasReaders(UntornThread c) {
        for (UntornThread t : UntornThreads.all()) {
            if (t != null && t != c && !t.silent && t.readsShared()) return true;
        }
        return false;
    }

    /**
     * Returns when every other thread that may read what is read-shared has passed a safe point since the call; false if
     * one did not.
     */
    static boolean coordinateWithAll(UntornThread c) {
        UntornThread[] all = UntornThreads.all();
        for (UntornThread t : all) {
            if (t != null && t != c && !t.silent && t.readsShared() && !coordinate(t, 0, c)) return false;
        }
        return true;
    }

    /** This thread is at a safe point. */
    @DontInline
    static void respond(UntornThread c) {
        // First: if the stack is too short for it, the thread comes by again.
        c.unwind();
        boolean forgets = U.getIntVolatile(c, REQUEST) == UNSHARES && c.readsShared();
        if (forgets) UntornThread.probe();
        Throwable dropped = c.dropped;
        if (dropped != null) {
            c.dies(dropped);
            c.dropped = null;
        }
        // A thread that is to die must come by where the program itself polls, and only there is it thrown out.
        U.putIntVolatile(c, POLL, 0);
        if (c.death != null) U.putIntVolatile(c, POLL, 1);
        if (c.deferred != 0) UntornShadow.abandon(c);
        // Others who write to what is read-shared need not ask again until this thread has read such a thing anew.
        if (forgets) c.forgetShared();
        // Who asks asks before the poll: after this thread took that back, it sees the request.
        int asked = U.getIntVolatile(c, REQUEST);
        if (asked != NOTHING) U.compareAndSetInt(c, REQUEST, asked, NOTHING);
    }
}
