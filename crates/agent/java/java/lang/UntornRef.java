package java.lang;

import java.lang.ref.WeakReference;

/**
 * Tells when an object that was given an id is gone, so that the reader can forget it.
 *
 * <p>An object gets its id when a second thread touches it; the thread that gives the id keeps a weak reference here, in
 * a list of its own. A private object has no id and costs nothing. When the list has doubled since it was last looked
 * through, and has at least {@link #LEAST} entries, the thread takes out those whose object is gone: a constant cost per
 * shared object, whatever the garbage collector does. A thread that ends leaves its list to all others, and the one that
 * ends when that one has doubled looks through it.
 *
 * <p>No record of the object follows. It was unreachable when the reference was cleared, so every access to it had been
 * made, and the record of an access is written while the object is in the hands of its thread (in {@link
 * UntornThread#held}, or needed for the access that follows the record). The edges from all threads, whose positions
 * are read after that, put the end after all of these records. Should one come later nevertheless, the reader gives it
 * an id of its own, since ids are never given twice here: then a conflict is left out, and none is made up.
 *
 * <p>Where memory or stack is short, an object is not remembered, and the reader keeps what it knows of it.
 * Looking happens where a thread makes room for records ({@link UntornThread#room}): no shadow word is locked there, and
 * no access is under way.
 */
final class UntornRef extends WeakReference<Object> {
    /** A list so short is not worth a look. */
    static final int LEAST = 4096;

    /** Of threads that have ended, with their number and when to look; under the global lock. */
    private static UntornRef orphans;
    private static int orphanCount, orphanLimit = LEAST;

    private final long id;
    private UntornRef next;

    private UntornRef(Object referent, long id, UntornRef next) {
        super(referent);
        this.id = id;
        this.next = next;
    }

    /** An object has an id from now on. Words that are in no object of the program are remembered elsewhere, or for ever. */
    static void remember(Object o, long id, UntornThread c) {
        if (UntornMode.FIRST || id == 0 || o instanceof UntornWord || o instanceof UntornEntry) return;
        try {
            c.objects = new UntornRef(o, id, c.objects);
            c.objectCount++;
        } catch (Throwable noMemory) {
            // The reader keeps it for ever.
        }
    }

    /** Takes out of a thread's list what is gone, and tells the reader. */
    static void sweep(UntornThread c) {
        UntornThread.probe();
        UntornRef kept = null, gone = null, after;
        int count = 0;
        for (UntornRef ref = c.objects; ref != null; ref = after) {
            after = ref.next;
            if (ref.refersTo(null)) {
                ref.next = gone;
                gone = ref;
            } else {
                ref.next = kept;
                kept = ref;
                count++;
            }
        }
        c.objects = kept;
        c.objectCount = count;
        c.objectLimit = Math.max(LEAST, 2 * count);
        if (gone == null) return;
        c.edgesFromAll();
        for (; gone != null; gone = gone.next) c.gone(UntornThread.GONE_OBJECT, gone.id);
        c.room();
    }

    /** A thread ends. */
    static void handOver(UntornThread c) {
        UntornThread.probe();
        if (give(c, 0)) {
            sweep(c);
            give(c, Math.max(LEAST, 2 * c.objectCount));
        }
    }

    /** Gives the list of a thread to all; or, if no limit is set and theirs is long by now, theirs to the thread. */
    private static boolean give(UntornThread c, int limit) {
        UntornRef last = c.objects;
        while (last != null && last.next != null) last = last.next;
        UntornThread.globalLock();
        try {
            if (last != null) {
                last.next = orphans;
                orphans = c.objects;
                orphanCount += c.objectCount;
            }
            if (limit != 0) orphanLimit = limit;
            boolean due = limit == 0 && orphanCount >= orphanLimit;
            c.objects = due ? orphans : null;
            c.objectCount = due ? orphanCount : 0;
            if (due) {
                orphans = null;
                orphanCount = 0;
            }
            return due;
        } finally {
            UntornThread.globalUnlock();
        }
    }
}
