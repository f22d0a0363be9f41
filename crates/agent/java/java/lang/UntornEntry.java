package java.lang;

import java.lang.ref.WeakReference;
import java.util.concurrent.locks.StampedLock;
import jdk.internal.misc.Unsafe;

/**
 * What is known of an object that has no shadow word of its own: a lock, an array, a collection.
 * Found through {@link UntornTable}, which holds it weakly.
 */
final class UntornEntry extends WeakReference<Object> {
    private static final Unsafe U = Unsafe.getUnsafe();
    static final long LAST = U.objectFieldOffset(UntornEntry.class, "last");
    static final long WORD = U.objectFieldOffset(UntornEntry.class, "word");
    private static final long WORDS = U.objectFieldOffset(UntornEntry.class, "words");
    private static final long CALLS = U.objectFieldOffset(UntornEntry.class, "calls");
    private static final long SHARED = U.objectFieldOffset(UntornEntry.class, "shared");

    final int hash;
    /** The reader's id of the object's class; of the class itself if the object is one. */
    final int classId;
    /** The next entry of the same bucket. */
    UntornEntry next;

    /** The id as a lock or synchronizer. */
    final long lock;
    /**
     * Thread and position (packed as an edge) after the last release, signal or wait; at first of the record that
     * announced the lock. For a monitor its holder alone writes it; otherwise releases chain through it.
     */
    private volatile long last;

    /** Whether it is a lock of the platform, held by its carrier ({@link UntornLocks}), and not a monitor. */
    final boolean explicit;
    /** Whether whoever takes it gives it up; anybody may give up what a stamp stands for. */
    final boolean owned;

    /**
     * One more than the thread that alone has held it exclusively so far; 0 for none, {@link #MANY}. Its holder writes
     * it, and how often it holds it now.
     */
    int user, depth;
    static final int MANY = -1;

    /**
     * How often the reader believes it to be held exclusively, and by which thread; the holder writes both. More than 0 when
     * another thread takes it means that the holder had no stack to say that it gave it up.
     */
    int recorded, holder;

    /**
     * Of a lock without owners: how many shared holds the reader knows of, and whether somebody gave up a hold of which it
     * knows as another thread's. From then on the lock orders threads as before, and nobody records to take it.
     */
    private volatile int shared;
    volatile boolean crossed;

    /** Shadow word of a collection; its object id is that of an array too. */
    private volatile long word;
    private volatile UntornWord[] words;
    /** Overlap of calls that are intervals: how many are running (low half), how many have begun (high half). */
    private volatile long calls;

    UntornEntry(Object referent, int hash, long lock, int classId, boolean explicit, long announced) {
        super(referent);
        this.hash = hash;
        this.lock = lock;
        this.classId = classId;
        this.explicit = explicit;
        this.owned = !explicit || !(referent instanceof StampedLock);
        this.last = announced;
    }

    long last() {
        return last;
    }

    void setLast(long edge) {
        U.putLongRelease(this, LAST, edge);
    }

    boolean replaceLast(long from, long to) {
        return U.compareAndSetLong(this, LAST, from, to);
    }

    /** The reader hears of another shared hold, or of one less. */
    void share(int more) {
        U.getAndAddInt(this, SHARED, more);
    }

    /** A thread gives up a hold that the reader does not know to be its own: if it knows of another one's, that is meant. */
    void cross() {
        if (recorded > 0 || shared > 0) crossed = true;
    }

    /** One shadow word per element of a short array; a long one shares them. */
    UntornWord[] words(int length) {
        UntornWord[] known = words;
        if (known != null) return known;
        try {
            UntornWord[] made = new UntornWord[Math.max(1, Math.min(length, UntornArrays.ARRAY_WORDS))];
            for (int i = 0; i < made.length; i++) made[i] = new UntornWord();
            return U.compareAndSetReference(this, WORDS, null, made) ? made : words;
        } catch (VirtualMachineError noMemory) {
            return null;
        }
    }

    /** The shadow word as it is now. */
    long word() {
        return word;
    }

    /** How many intervals run and have begun, as it is now. */
    long calls() {
        return calls;
    }

    /** The id as a holder of locations; 0 for none. */
    long object() {
        return word & UntornShadow.OBJECT;
    }

    /** The id as a holder of locations, made on first use; 0 if there is none left, or it is tracked no more. */
    long objectId(UntornThread c) {
        long known = word & UntornShadow.OBJECT;
        if (known != 0) return known;
        if (word == UntornOwner.UNTRACKED) return 0;
        c.room();
        long made = c.newObject();
        if (made == 0) return 0;
        c.write((long) UntornRecord.NEW_OBJECT << UntornRecord.OP_SHIFT
                | (long) (classId & (1 << 20) - 1) << UntornRecord.OBJECT_BITS | made);
        // Owned by its finder from the start, so whoever comes next is ordered after the announcement.
        long fresh = UntornShadow.CONTENDED | UntornShadow.RD_EX | c.owner | made;
        for (;;) {
            long now = word;
            if ((now & UntornShadow.OBJECT) != 0) return now & UntornShadow.OBJECT;
            // Given up meanwhile: it has no id any more.
            if (now == UntornOwner.UNTRACKED) return 0;
            if (now == 0 && U.compareAndSetLong(this, WORD, 0, fresh)) return made;
        }
    }

    /** An interval begins; returns the number of calls begun so far, with the sign bit if another one is running. */
    long beginCall() {
        for (;;) {
            long now = calls;
            if (U.compareAndSetLong(this, CALLS, now, now + (1L << 32) + 1)) {
                return now >>> 32 | ((int) now != 0 ? 1L << 63 : 0);
            }
        }
    }

    /** Whether another one has overlapped it so far. */
    boolean isOverlapped(long begun) {
        return begun < 0 || (int) (calls >>> 32) != (int) begun + 1;
    }

    /** It ends; whether another one overlapped it. */
    boolean endCall(long begun) {
        for (;;) {
            long now = calls;
            if ((int) now == 0) return true;
            if (U.compareAndSetLong(this, CALLS, now, now - 1)) {
                return begun < 0 || (int) (now >>> 32) != (int) begun + 1;
            }
        }
    }
}
