package java.lang;

import java.util.Enumeration;
import java.util.Iterator;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What objects carry themselves in hidden fields: their {@link UntornEntry}, so that it need not be looked up, and a word
 * that says whether one thread alone has used them. Objects of watched classes carry both, and so do those of the
 * platform's classes that programs use most. Where the fields are stands in a hidden field of the class.
 *
 * <p>The word of a platform's object is 0 (nobody has used it), an epoch with {@link #RECORDED} (it belongs to the thread that
 * made it or used it first, and calls on it are recorded while {@link UntornBudget} allows), an epoch alone (private: calls on
 * it leave no record and make no entry, by the argument of {@link UntornOwner}), {@link #SHARED} for ever, or
 * {@link UntornOwner#UNTRACKED}. Inside a call
 * of the library a thread may be in native code and be taken for asleep, so an epoch is good enough only for what is not
 * recorded; calls on what is shared lock the entry's word.
 *
 * <p>The word of a watched object is its shadow word. Calls of the library on such an object, which are those of variable
 * handles and field updaters, leave no record either while it is private. A first run, which records nothing anyway,
 * lets the shadow word order them like accesses to fields and makes no entry.
 *
 * <p>A clone has the fields of its original: an entry counts only if it is of the object that carries it.
 */
final class UntornPlaces {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** A word that is nobody's. */
    private static final long SHARED = -2;

    /** Added to an epoch: calls are recorded although one thread alone makes them. */
    static final long RECORDED = 1;

    private static final String WORD = "$untornWord", ENTRY = "$untornEntry";

    /**
     * Where a class keeps its places: the offset of the entry in the low bits, that of the word above it, either 0 for
     * none; all 0 until they are known.
     */
    private static final long PLACES = U.objectFieldOffset(Class.class, "$untornPlaces");
    private static final int OFFSET_BITS = 24;
    private static final long OFFSET = (1L << OFFSET_BITS) - 1;
    /** Where a view, wrapper or iterator keeps what it is of, above both; 0 for none. */
    private static final int INNER_SHIFT = 48, INNER_BITS = 12;
    private static final long INNER = (1L << INNER_BITS) - 1;
    /** The word is the shadow word. */
    private static final long WATCHED = 1L << 62;
    private static final long KNOWN = 1L << 61;
    /** An iterator of which it is not known what it iterates over, or that has a copy of it. */
    private static final long DETACHED = 1L << 60;

    private UntornPlaces() {}

    @ForceInline
    private static long places(Object o) {
        Class<?> k = o.getClass();
        long places = U.getLong(k, PLACES);
        return places != 0 ? places : find(k);
    }

    @DontInline
    private static long find(Class<?> k) {
        long entry = 0, word = 0, shadow = 0;
        // The JVM does not survive the question for a field of an array.
        for (Class<?> at = k.isArray() ? null : k; at != null; at = at.getSuperclass()) {
            if (entry == 0) entry = offset(at, ENTRY);
            if (word == 0) word = offset(at, WORD);
            if (shadow == 0) shadow = offset(at, UntornHooks.PREFIX);
        }
        long places = KNOWN | entry | (word != 0 ? word : shadow) << OFFSET_BITS;
        if (word == 0 && shadow != 0) places |= WATCHED;
        long inner = UntornViews.inner(k);
        if (inner > 0 && inner <= INNER) {
            places |= inner << INNER_SHIFT;
        } else if (Iterator.class.isAssignableFrom(k) || Enumeration.class.isAssignableFrom(k)) {
            places |= DETACHED;
        }
        U.putLong(k, PLACES, places);
        return places;
    }

    /** Where a hidden field is that the class itself declares; 0 if it has none. */
    private static long offset(Class<?> k, String field) {
        return Math.max(0, UntornWords.fieldOffset(k, field));
    }

    /** Where an object keeps its entry; 0 for nowhere. */
    @ForceInline
    static long entry(Object o) {
        return places(o) & OFFSET;
    }

    /** What a call on an object is about: itself, or what it is a view, wrapper or iterator of; null if that is not known. */
    @ForceInline
    static Object content(Object o) {
        long places = places(o);
        return (places & (INNER << INNER_SHIFT | DETACHED)) == 0 ? o : unwrap(o, places);
    }

    @DontInline
    private static Object unwrap(Object o, long places) {
        for (;;) {
            if ((places & DETACHED) != 0) return null;
            long inner = places >>> INNER_SHIFT & INNER;
            if (inner == 0) return o;
            o = U.getReference(o, inner);
            if (o == null) return null;
            places = places(o);
        }
    }

    /** A watched object was made by this thread; others may know it already. */
    static void made(Object o, UntornThread c) {
        long places = places(o), offset = places >>> OFFSET_BITS & OFFSET;
        if ((places & WATCHED) == 0 || offset == 0 || U.getLong(o, offset) != 0) return;
        long mask = UntornBudget.born(o.getClass()), word = mask & c.born;
        if (word != 0) U.compareAndSetLong(o, offset, 0, word);
    }

    /** Whether a watched object is this thread's alone, so that nothing of it is recorded. */
    @ForceInline
    static boolean isMine(Object o, UntornThread c) {
        if (!UntornShadow.OPTIMISTIC || !UntornShadow.ELIDES || UntornMode.FIRST) return false;
        long places = places(o), offset = places >>> OFFSET_BITS & OFFSET;
        return (places & WATCHED) != 0 && offset != 0 && U.getLong(o, offset) == c.mine;
    }

    /** Whether calls on an object leave no record, as this thread alone has used it; it becomes shared if not. */
    @ForceInline
    static boolean isPrivate(Object o, int site, UntornThread c) {
        if (!UntornShadow.OPTIMISTIC || !UntornShadow.ELIDES) return false;
        long places = places(o), offset = places >>> OFFSET_BITS & OFFSET;
        if (offset == 0) return false;
        long word = U.getLong(o, offset);
        if (word == c.mine) return true;
        if ((places & WATCHED) != 0) return isPrivate(o, offset, site, c);
        return word != SHARED && claim(o, offset, site, c);
    }

    /** The same for a watched object. */
    private static boolean isPrivate(Object o, long offset, int site, UntornThread c) {
        if (UntornMode.FIRST) {
            UntornShadow.record(o, offset, site, c);
            return true;
        }
        UntornOwner.publish(o, offset, c);
        return U.getLong(o, offset) == c.mine;
    }

    /**
     * Whether a watched object has no entry and its shadow word is this thread's alone; who claims takes the word from
     * another thread that may believe so.
     */
    @ForceInline
    static boolean isOwn(Object o, boolean claims, UntornThread c) {
        if (!UntornShadow.OPTIMISTIC || !UntornShadow.ELIDES) return false;
        long places = places(o), entry = places & OFFSET;
        if ((places & WATCHED) == 0 || entry == 0 || U.getReference(o, entry) != null) return false;
        long offset = places >>> OFFSET_BITS & OFFSET;
        if (U.getLong(o, offset) == c.mine) return true;
        if (!claims) return false;
        UntornOwner.publish(o, offset, c);
        return U.getLong(o, offset) == c.mine;
    }

    @DontInline
    private static boolean claim(Object o, long offset, int site, UntornThread c) {
        UntornThread.probe();
        for (;;) {
            c.poll();
            c.room();
            long word = U.getLongVolatile(o, offset);
            long mine = c.mine;
            boolean owns = mine != UntornEpoch.NONE;
            if (word == SHARED) return false;
            if (word == mine || word == UntornOwner.UNTRACKED) return true;
            if (word == 0) {
                if (!U.compareAndSetLong(o, offset, 0, owns ? mine | RECORDED : SHARED)) continue;
                if (!owns) return false;
                word = mine | RECORDED;
            }
            if (owns && word == (mine | RECORDED)) {
                if (UntornBudget.covers(site)) return false;
                if (U.compareAndSetLong(o, offset, word, mine)) return true;
                continue;
            }
            int epoch = (int) (word >>> UntornRecord.OBJECT_BITS);
            UntornThread owner = UntornEpoch.owner(epoch);
            if (owner != null && owner != c) {
                if (!UntornEpoch.coordinate(owner, epoch, c) && U.compareAndSetLong(o, offset, word, UntornOwner.UNTRACKED)) {
                    UntornNatives.untracked();
                }
                continue;
            }
            if (owner == c || UntornEpoch.formerOwner(epoch) == c.id) {
                // This thread's own epoch of earlier.
                if (owns) {
                    U.compareAndSetLong(o, offset, word, mine | word & RECORDED);
                    continue;
                }
            } else {
                c.edge(UntornEpoch.end(epoch));
            }
            if (!U.compareAndSetLong(o, offset, word, SHARED)) continue;
            if ((word & RECORDED) == 0 && !UntornMode.FIRST) c.handedOver++;
            return false;
        }
    }
}
