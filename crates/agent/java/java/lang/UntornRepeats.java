package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Accesses that go unrecorded as the thread has just recorded the same one (the duplicate elision of section 4 of the
 * DoubleChecker paper).
 *
 * <p>An access is left out if the same instruction accessed the same object before, in the same regions, and this thread has
 * since written nothing but accesses and regions that began and ended: no lock, and no edge. Whatever the later access
 * conflicts with then conflicts with the earlier one, too. Another thread's access cannot lie between the two: it would have
 * taken the word away, and this thread would have drawn an edge from there when it took the word back. What comes before the
 * later access comes before the earlier one, as no edge leads in between them; and both lie in the same regions, under the
 * same locks. An edge that is not written, as an earlier one stands for it, counts like one that is.
 *
 * <p>Unlike the paper's, this does not ask for edges that leave the thread: one that leaves after the later access may as
 * well be said to leave after the earlier one.
 *
 * <p>What is lost: an access between the two may be the first of this thread to what another one wrote before the last edge.
 * A path from that write over it and the later access, to a region of the other thread that has not ended, is not seen then.
 *
 * <p>Calls of the library that only read are left out in the same way ({@link UntornCalls}), by their keys.
 *
 * <p>A thread remembers accesses in a small table by their hash. The {@link UntornThread#span} is mixed into what it
 * remembers, so a new span empties the table.
 */
final class UntornRepeats {
    /** How many accesses a thread remembers: a power of two. */
    private static final int BITS = 10;
    private static final long MIX = 0x9e3779b97f4a7c15L;

    private UntornRepeats() {}

    /** Whether this thread has recorded that access in this span; from now on it has. */
    @ForceInline
    static boolean contains(long record, UntornThread c) {
        long[] known = c.repeats;
        if (known == null) return false;
        long key = record ^ c.span;
        int at = (int) (record * MIX >>> 64 - BITS);
        if (known[at] == key) return true;
        known[at] = key;
        return false;
    }

    /** Whether this thread has recorded that access in this span. */
    @ForceInline
    static boolean has(long record, UntornThread c) {
        long[] known = c.repeats;
        return known != null && known[(int) (record * MIX >>> 64 - BITS)] == (record ^ c.span);
    }

    /** This thread has recorded that access. */
    static void add(long record, UntornThread c) {
        long[] known = c.repeats;
        if (known != null) known[(int) (record * MIX >>> 64 - BITS)] = record ^ c.span;
    }

    /** An access to what has a key, which its record does not hold. */
    @ForceInline
    static long keyed(long record, long key) {
        return record ^ key * MIX;
    }

    /** Gives a thread its table, where no access is under way: memory is to be had only at a safe point. */
    @DontInline
    static void make(UntornThread c) {
        UntornThread.probe();
        try {
            c.repeats = new long[1 << BITS];
        } catch (OutOfMemoryError none) {
            // Nothing is left out, then.
        }
    }
}
