package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Badges, under which threads own shadow words, and the meetings in which they are taken away.
 *
 * <p>A word that is owned names a badge, and a thread uses such a word without any synchronization while the badge is
 * its current one ({@link UntornThread#mine}). Who wants an object of another thread has that thread's badge replaced
 * and then makes sure that the thread has passed a <em>safe point</em>: a moment at which it is in no access, and after
 * which it reads badge and word from memory again. From then on the old badge is <em>dead</em>: nobody uses a word under
 * it any more, and everybody may claim such words with a compare-and-set. So one meeting hands over all that a thread
 * owned so far, also what a consumer will find in a minute, and a meeting with a thread that sleeps is never repeated.
 * The old owner claims what it still uses again, one compare-and-set per object.
 * (Octet, as section 3.2.1 of the DoubleChecker paper describes it, coordinates once per object instead.)
 *
 * <p>Safe points, in the order in which they are tried:
 * <ul>
 * <li>A poll, at the entry of an instrumented method that calls others, at a loop's end and in every slow path. It is an
 *     opaque or volatile read, over which a compiler moves no memory access. This is the paper's explicit protocol.
 * <li>The thread has said that it sleeps ({@link #sleeps}): it parks, waits for a contended monitor or on one, or for
 *     the network. This is the paper's implicit protocol. Who asks and who wakes change one field atomically, so the
 *     one that asks finds the thread asleep, and what it wrote before is read when the thread is back, or it does not.
 * <li>The thread is in a native method or has no frame, or waits for a monitor: it waits for something of which it
 *     could not tell. It does nothing for this: who asks looks, with JVM TI, after a {@code membarrier} that puts the
 *     new badge before everything the thread does next. Inside an access the only native methods are those of {@code Unsafe}, as the interpreter calls them; they do not count,
 *     {@code park} excepted, and compilers keep nothing in registers over calls and monitors.
 * </ul>
 * A thread that stands anywhere else is about to reach a poll. If it does not for {@link #PATIENCE} (it waits for the
 * initialization of a class, or runs long in code that is not watched), the object in question is tracked no more:
 * nobody records accesses to it from then on. That costs findings on this object and makes no false one, since leaving
 * an access out only takes conflicts away; it is counted. So nobody waits for ever, whatever the other thread does.
 *
 * <p>HotSpot's own safe points are none of these, since a thread can be stopped there in the middle of an access.
 *
 * <p>A thread that waits in a meeting polls, so two can meet each other. No class is loaded between the record of an
 * access and the access, so there is no way into other native code from within one.
 */
final class UntornBadge {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long POLL = UntornThread.POLL;
    private static final long TURN = U.objectFieldOffset(UntornThread.class, "turn");
    private static final long GATE = U.objectFieldOffset(UntornThread.class, "gate");
    private static final long ASK = U.objectFieldOffset(UntornThread.class, "ask");
    private static final long SLEEP = U.objectFieldOffset(UntornThread.class, "sleep");
    private static final long LOOKED = U.objectFieldOffset(UntornThread.class, "looked");
    private static final long MINE = U.objectFieldOffset(UntornThread.class, "mine");

    /** Nobody's word. */
    static final long NONE = -1;

    /** States of a request: answered, for a badge, or for what the thread may read as read-shared. */
    private static final int DONE = 0, ASKED = 1, UNSHARES = 2;

    /** Badges fill the place of a thread in a word; 0 and the last one are nobody's. */
    private static final int LIMIT = UntornLimits.OWNERS;
    /** A badge that is used: this bit and the thread. Of a dead one: thread and position, packed as an edge. */
    private static final long ALIVE = 1L << 63;
    /** The thread did not answer. */
    private static final long LOST = 1L << 62;

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

    private UntornBadge() {}

    // ---- badges ---------------------------------------------------------------------------------------------------

    /** Gives a new thread its badge. Virtual threads have none: nobody could look at them all. */
    static void first(UntornThread c) {
        if (UntornShadow.OPTIMISTIC && !isVirtual(c.thread)) issue(c);
    }

    private static boolean isVirtual(Thread thread) {
        for (Class<?> k = thread.getClass(); k != Thread.class; k = k.getSuperclass()) {
            if (k.getName().equals("java.lang.BaseVirtualThread")) return true;
        }
        return false;
    }

    /** A fresh badge for a thread; none once there are none left, and then it owns nothing any more. */
    private static void issue(UntornThread t) {
        int number = U.getIntVolatile(null, COUNTER);
        if (number < LIMIT) number = U.getAndAddInt(null, COUNTER, 1);
        if (number >= LIMIT) {
            t.born = 0;
            U.putLongVolatile(t, MINE, NONE);
            return;
        }
        U.putLongVolatile(null, at(number), ALIVE | t.id);
        long word = (long) number << UntornThread.OBJECT_BITS;
        t.born = word;
        U.putLongVolatile(t, MINE, word);
    }

    private static long at(int badge) {
        return TABLE + badge * 8L;
    }

    /** The thread whose badge this is, if it is in use; null if it is dead. */
    static UntornThread owner(int badge) {
        long known = U.getLongVolatile(null, at(badge));
        // A thread that has ended has no context, and all its badges are dead.
        return known < 0 ? UntornThread.byId((int) known) : null;
    }

    /** What the thread of a dead badge wrote under it, packed as an edge. */
    static long past(int badge) {
        long known = U.getLongVolatile(null, at(badge));
        return known >= 0 ? known : UntornThread.exits();
    }

    /** The thread of a dead badge. */
    static int wearer(int badge) {
        long known = U.getLongVolatile(null, at(badge));
        return known >= 0 ? (int) (known >>> UntornThread.POSITION_BITS) : (int) known;
    }

    // ---- meetings -------------------------------------------------------------------------------------------------

    /**
     * Returns when that thread has passed a safe point since the call; with a badge, when that one is dead.
     * False if the thread is somewhere else for too long.
     */
    @DontInline
    static boolean meet(UntornThread t, int badge, UntornThread c) {
        UntornThread.probe();
        for (int tries = 1; !enter(t); tries++) {
            c.poll();
            if (badge != 0 && owner(badge) == null) return true;
            UntornThread.pause(tries);
        }
        try {
            if (badge != 0) {
                long known = U.getLongVolatile(null, at(badge));
                if (known >= 0) return true;
                boolean silent = (known & LOST) != 0 && U.getIntVolatile(t, ASK) != DONE;
                if (silent && !look(t)) return false;
                if (t.mine == (long) badge << UntornThread.OBJECT_BITS) issue(t);
            }
            boolean met = isAsleep(t) || ask(t, badge != 0 ? ASKED : UNSHARES, c);
            if (badge != 0) {
                U.putLongVolatile(null, at(badge), met ? t.past() : ALIVE | LOST | t.id);
            }
            return met;
        } finally {
            leave(t);
        }
    }

    /** Asks a thread to pass a safe point, and waits until it has. */
    private static boolean ask(UntornThread t, int what, UntornThread c) {
        int turn = t.turn + 1;
        U.putIntVolatile(t, ASK, what);
        U.putIntVolatile(t, POLL, 1);
        // Last: who sees the number sees the poll.
        U.putIntVolatile(t, TURN, turn);
        return await(t, what, turn, c);
    }

    /** Only one thread at a time meets another; whether this one may now. */
    static boolean enter(UntornThread t) {
        return U.compareAndSetInt(t, GATE, 0, 1);
    }

    static void leave(UntornThread t) {
        U.putIntVolatile(t, GATE, 0);
    }

    private static boolean await(UntornThread t, int what, int turn, UntornThread c) {
        // Who was asleep the last time is most often still asleep.
        int start = t.looked == turn - 1 ? SPINS + NAPS : 0;
        for (int tries = start; ; tries++) {
            if (U.getIntVolatile(t, ASK) == DONE || UntornThread.byId(t.id) != t) return true;
            c.poll();
            if (tries < SPINS) {
                // It may fall asleep only now.
                if (tries % GLANCES == 0 && isAsleep(t)) U.compareAndSetInt(t, ASK, what, DONE);
                Thread.onSpinWait();
                continue;
            }
            if ((tries - SPINS) % LOOKS == NAPS && look(t)) {
                U.putIntVolatile(t, LOOKED, turn);
                U.compareAndSetInt(t, ASK, what, DONE);
                continue;
            }
            if (tries - SPINS > PATIENCE) return false;
            UntornShadow.owe();
            nap(UntornThread.NAP);
        }
    }

    /** Whether a thread is at a safe point now by what it waits for. */
    static boolean look(UntornThread t) {
        Thread thread = t.thread;
        return thread == null || isAsleep(t) || UntornRuntime.isAway(thread);
    }

    // ---- sleep ----------------------------------------------------------------------------------------------------

    /** The lowest bit of {@link UntornThread#sleep}; who looks adds to the others, so that the thread sees it was looked at. */
    private static final int ASLEEP = 1, LOOK = 2;

    /**
     * This thread is about to sleep, and touches nothing that is watched until {@link #wakes}. The stack that this needs
     * is made sure of here.
     */
    @DontInline
    static void sleeps(UntornThread c) {
        UntornThread.probe();
        if (c.mine == NONE) return;
        if (c.settled != 0) UntornShadow.abandon(c);
        U.getAndBitwiseOrInt(c, SLEEP, ASLEEP);
    }

    @DontInline
    static void wakes(UntornThread c) {
        if ((c.sleep & ASLEEP) != 0) U.getAndBitwiseAndInt(c, SLEEP, ~ASLEEP);
    }

    /** A little sleep of this thread, which waits for another one and has polled. */
    static void nap(int micros) {
        nap(micros, false);
    }

    /** The same, of one that waits for the reader if it is for room in the log. */
    static void nap(int micros, boolean forRoom) {
        UntornThread c = UntornThread.of(Thread.currentThread());
        if (c == null || c.mine == NONE) {
            UntornRuntime.nap(micros, forRoom);
            return;
        }
        try {
            U.getAndBitwiseOrInt(c, SLEEP, ASLEEP);
            UntornRuntime.nap(micros, forRoom);
        } finally {
            wakes(c);
        }
    }

    private static boolean isAsleep(UntornThread t) {
        return (U.getIntVolatile(t, SLEEP) & ASLEEP) != 0 && (U.getAndAddInt(t, SLEEP, LOOK) & ASLEEP) != 0;
    }

    /**
     * Returns when every other thread that may read what is read-shared has passed a safe point since the call; false if
     * one did not.
     */
    static boolean meetAll(UntornThread c) {
        UntornThread[] all = UntornThread.all();
        for (UntornThread t : all) {
            if (t != null && t != c && !t.silent && t.readsShared() && !meet(t, 0, c)) return false;
        }
        return true;
    }

    /** This thread is at a safe point. */
    @DontInline
    static void answer(UntornThread c) {
        // First: if the stack is too short for it, the thread comes by again.
        c.unwind();
        boolean forgets = U.getIntVolatile(c, ASK) == UNSHARES && c.readsShared();
        if (forgets) UntornThread.probe();
        Throwable dropped = c.dropped;
        if (dropped != null) {
            c.dies(dropped);
            c.dropped = null;
        }
        // A thread that is to die must come by where the program itself polls, and only there is it thrown out.
        U.putIntVolatile(c, POLL, 0);
        if (c.death != null) U.putIntVolatile(c, POLL, 1);
        if (c.settled != 0) UntornShadow.abandon(c);
        // Others who write to what is read-shared need not ask again until this thread has read such a thing anew.
        if (forgets) c.forgetShared();
        // Who asks asks before the poll: after this thread took that back, it sees the request.
        int asked = U.getIntVolatile(c, ASK);
        if (asked != DONE) U.compareAndSetInt(c, ASK, asked, DONE);
    }
}
