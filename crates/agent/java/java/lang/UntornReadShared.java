package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;

/**
 * Objects that several threads read, as one thread sees them.
 */
abstract class UntornReadShared extends UntornEdges {
    private static final long SHARED_SEEN = U.objectFieldOffset(UntornReadShared.class, "sharedSeen");
    private static final long SHARES = U.objectFieldOffset(UntornReadShared.class, "shares");
    /** How many objects became read-shared, and the edge to the last one's transition. */
    private static volatile long sharedCount;
    private static long lastShared;
    /** The newest read-shared transition that is ordered before this thread. */
    long sharedSeen;
    /** Whether something that this thread owned for reading became read-shared. */
    private int shares;
    /** For a first run: the greatest read-shared word that this thread may read without asking, less the least one. */
    public long seen = Long.MIN_VALUE;

    UntornReadShared(int id) {
        super(id);
    }

    /** Whether this thread may read what is read-shared, now that words were locked; if not, it looks at the word again first. */
    boolean readsShared() {
        return U.getLongVolatile(this, SHARED_SEEN) != 0 || U.getIntVolatile(this, SHARES) != 0;
    }

    /** Another thread is about to make something read-shared that this one may be reading as its own just now. */
    void shares() {
        U.putIntVolatile(this, SHARES, 1);
    }

    /**
     * An object becomes read-shared: orders this transition after all earlier ones and returns its number.
     * A reader that has seen transition n is thereby after all up to n.
     */
    long share() {
        probe();
        long number;
        globalLock();
        try {
            edge(lastShared);
            number = sharedCount + 1;
            // The edges that order the transition are written; the read itself needs no order.
            lastShared = here();
            sharedCount = number;
        } finally {
            globalUnlock();
        }
        see(number);
        return number;
    }

    /**
     * The same for a word that another thread owns for reading: changes it, unless it is another one by now.
     * All under the lock, which every such change takes: the owner lives on, so a word that was read-shared, written
     * to and given back to it looks the same, and an edge that was drawn before would be too old.
     */
    boolean share(Object holder, long offset, long word, UntornThread owner) {
        probe();
        globalLock();
        try {
            if (U.getLongVolatile(holder, offset) != word) return false;
            edge(owner.past());
            edge(lastShared);
            long number = sharedCount + 1;
            lastShared = here();
            sharedCount = number;
            see(number);
            owner.shares();
            long known = Math.min(number, UntornShadow.UNKNOWN_TRANSITION);
            long shared = UntornShadow.RD_SH | known << OBJECT_BITS | word & UntornShadow.OBJECT;
            return U.compareAndSetLong(holder, offset, word, shared);
        } finally {
            globalUnlock();
        }
    }

    /** This thread reads an object that became read-shared with that number, or with one that no longer fits its word. */
    @ForceInline
    void fence(long number, long unknown) {
        if (sharedSeen < number || number == unknown) catchUp(number, unknown);
    }

    /** Whether {@link #fence} has nothing to do. */
    @ForceInline
    boolean fenced(long number, long unknown) {
        return number <= sharedSeen && number != unknown || number == unknown && sharedSeen >= sharedCount;
    }

    @DontInline
    private void catchUp(long number, long unknown) {
        if (number == unknown && sharedSeen >= sharedCount) return;
        probe();
        globalLock();
        long seen = sharedCount, from = lastShared;
        globalUnlock();
        edge(from);
        see(seen);
    }

    /**
     * At a safe point: from here on this thread looks at the newest transition before it reads anything read-shared. Under
     * the lock, since who makes something read-shared that this thread owned says so first and changes the word then: taken
     * back in between, that would be lost.
     */
    void forgetShared() {
        globalLock();
        shares = 0;
        sharedSeen = 0;
        seen = Long.MIN_VALUE;
        globalUnlock();
    }

    void see(long number) {
        sharedSeen = number;
        long known = Math.min(number, UntornShadow.UNKNOWN_TRANSITION - 1);
        this.seen = Long.MIN_VALUE + (known << OBJECT_BITS | UntornShadow.OBJECT);
        // Before this thread looks at a word again: who locks one either sees this, or is seen by this thread.
        U.fullFence();
    }
}
