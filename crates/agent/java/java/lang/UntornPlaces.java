package java.lang;

import java.util.AbstractCollection;
import java.util.AbstractMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What objects of the platform carry themselves, in hidden fields of the classes that programs use most: their
 * {@link UntornEntry}, so that it need not be looked up, and a word that says whether one thread alone has used them.
 *
 * <p>The word is 0 (nobody has used it), a badge (private: calls on it leave no record and make no entry, by the argument
 * of {@link UntornOwner}), {@link #SHARED} for ever, or {@link UntornOwner#UNTRACKED}. Inside a call of the library a thread
 * may be in native code and be taken for asleep, so a badge is good enough only for what is not recorded; calls on what
 * is shared lock the entry's word.
 *
 * <p>A clone has the fields of its original: an entry counts only if it is of the object that carries it.
 */
final class UntornPlaces {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** A word that is nobody's. */
    private static final long SHARED = -2;

    private static final String WORD = "$untornWord", ENTRY = "$untornEntry";
    private static final long COLLECTION_WORD = offset(AbstractCollection.class, WORD),
            COLLECTION_ENTRY = offset(AbstractCollection.class, ENTRY),
            MAP_WORD = offset(AbstractMap.class, WORD), MAP_ENTRY = offset(AbstractMap.class, ENTRY),
            REFERENCE_WORD = offset(AtomicReference.class, WORD), REFERENCE_ENTRY = offset(AtomicReference.class, ENTRY),
            LONG_WORD = offset(AtomicLong.class, WORD), LONG_ENTRY = offset(AtomicLong.class, ENTRY),
            INTEGER_WORD = offset(AtomicInteger.class, WORD), INTEGER_ENTRY = offset(AtomicInteger.class, ENTRY),
            BOOLEAN_WORD = offset(AtomicBoolean.class, WORD), BOOLEAN_ENTRY = offset(AtomicBoolean.class, ENTRY),
            LOCK_ENTRY = offset(ReentrantLock.class, ENTRY),
            READ_ENTRY = offset(ReentrantReadWriteLock.ReadLock.class, ENTRY),
            WRITE_ENTRY = offset(ReentrantReadWriteLock.WriteLock.class, ENTRY);

    private UntornPlaces() {}

    /** Where a hidden field is; 0 if the class could not be given one. */
    private static long offset(Class<?> k, String field) {
        try {
            return U.objectFieldOffset(k, field);
        } catch (InternalError none) {
            return 0;
        }
    }

    /** Where an object keeps its entry; 0 for nowhere. */
    @ForceInline
    static long entry(Object o) {
        if (o instanceof AbstractCollection) return COLLECTION_ENTRY;
        if (o instanceof AbstractMap) return MAP_ENTRY;
        if (o instanceof ReentrantLock) return LOCK_ENTRY;
        if (o instanceof AtomicReference) return REFERENCE_ENTRY;
        if (o instanceof AtomicLong) return LONG_ENTRY;
        if (o instanceof AtomicInteger) return INTEGER_ENTRY;
        if (o instanceof AtomicBoolean) return BOOLEAN_ENTRY;
        if (o instanceof ReentrantReadWriteLock.ReadLock) return READ_ENTRY;
        if (o instanceof ReentrantReadWriteLock.WriteLock) return WRITE_ENTRY;
        return 0;
    }

    @ForceInline
    private static long word(Object o) {
        if (o instanceof AbstractCollection) return COLLECTION_WORD;
        if (o instanceof AbstractMap) return MAP_WORD;
        if (o instanceof AtomicReference) return REFERENCE_WORD;
        if (o instanceof AtomicLong) return LONG_WORD;
        if (o instanceof AtomicInteger) return INTEGER_WORD;
        if (o instanceof AtomicBoolean) return BOOLEAN_WORD;
        return 0;
    }

    /** Whether calls on an object leave no record, as this thread alone has used it; it becomes shared if not. */
    @ForceInline
    static boolean isPrivate(Object o, UntornThread c) {
        if (!UntornShadow.OPTIMISTIC || !UntornShadow.ELIDES) return false;
        long offset = word(o);
        if (offset == 0) return false;
        long word = U.getLong(o, offset);
        return word == c.mine || word != SHARED && claim(o, offset, c);
    }

    /** Whether calls on an object leave no record as of now. */
    @ForceInline
    static boolean isPrivateStill(Object o, UntornThread c) {
        if (!UntornShadow.OPTIMISTIC || !UntornShadow.ELIDES) return false;
        long offset = word(o);
        if (offset == 0) return false;
        long word = U.getLong(o, offset);
        return word == c.mine || word == UntornOwner.UNTRACKED;
    }

    @DontInline
    private static boolean claim(Object o, long offset, UntornThread c) {
        UntornThread.probe();
        for (;;) {
            c.poll();
            c.room();
            long word = U.getLongVolatile(o, offset);
            long mine = c.mine;
            if (word == SHARED) return false;
            if (word == mine || word == UntornOwner.UNTRACKED) return true;
            if (word == 0) {
                boolean owns = mine != UntornBadge.NONE;
                if (U.compareAndSetLong(o, offset, 0, owns ? mine : SHARED)) return owns;
                continue;
            }
            int badge = (int) (word >>> UntornThread.OBJECT_BITS);
            UntornThread owner = UntornBadge.owner(badge);
            if (owner != null && owner != c) {
                if (!UntornBadge.meet(owner, badge, c) && U.compareAndSetLong(o, offset, word, UntornOwner.UNTRACKED)) {
                    UntornRuntime.untracked();
                }
                continue;
            }
            if (owner == c || UntornBadge.wearer(badge) == c.id) {
                // This thread's own badge of earlier.
                if (mine != UntornBadge.NONE) {
                    U.compareAndSetLong(o, offset, word, mine);
                    continue;
                }
            } else {
                c.edge(UntornBadge.past(badge));
            }
            if (U.compareAndSetLong(o, offset, word, SHARED)) return false;
        }
    }
}
