package java.lang;

import java.lang.ref.WeakReference;

/**
 * Tells when an object that was given an id is gone, so that the reader can forget it.
 *
 * <p>An object gets its id when a second thread touches it; the thread that gives the id keeps a weak reference here, in
 * a list of its own. A private object has no id and costs nothing. Once the collector has run, and the list has grown by
 * a quarter and by {@link #LEAST}, the thread takes out those whose object is gone: a constant cost per shared object,
 * and no more garbage in the list than was made between two collections. A thread that ends leaves its list to all
 * others, and one that ends later looks through it.
 *
 * <p>No record of the object follows. It was unreachable when the reference was cleared, so every access to it had been
 * made, and the record of an access is written while the object is in the hands of its thread (in {@link
 * UntornThread#held}, or needed for the access, which follows the record). The edges from all threads, whose positions
 * are read after that, put the end after all of these records. Should one come later nevertheless, the reader gives it
 * an id of its own, since ids are never given twice here: then a conflict is left out, and none is made up.
 *
 * <p>Where memory or stack is short, an object is not remembered, and the reader keeps what it knows of it.
 * Looking happens where a thread makes room for records ({@link UntornThread#room}): no access is under way there. A
 * word that only waits for the next safe point may be locked; who wants it waits no longer than for any other slow path.
 */
final class UntornRef extends WeakReference<Object> {
    /** So few are not worth a look. */
    static final int LEAST = 4096;

    /** Of threads that have ended: their objects, how many, how many of them are new, and when these were last looked at. */
    private static UntornRef orphans;
    private static int orphanCount, orphansAdded, orphansSeen;

    /** Refers to an object that nobody has, so it is cleared when the collector runs. */
    private static volatile UntornRef canary;
    private static volatile int collections;

    private final long id;
    private UntornRef next;

    private UntornRef(Object referent, long id, UntornRef next) {
        super(referent);
        this.id = id;
        this.next = next;
    }

    /** A number that changes whenever the collector has run. */
    static int collections() {
        UntornRef known = canary;
        if (known == null || known.refersTo(null)) {
            try {
                canary = new UntornRef(new Object(), 0, null);
            } catch (VirtualMachineError noMemory) {
                // It will have run by the next time.
            }
            collections++;
        }
        return collections;
    }

    /** What {@link #collections} returned last. */
    static int lastCollection() {
        return collections;
    }

    /** An object has an id from now on. Words that are in no object of the program are remembered elsewhere, or for ever. */
    static void remember(Object o, long id, UntornThread c) {
        if (UntornMode.FIRST || id == 0 || o instanceof UntornWord || o instanceof UntornEntry) return;
        try {
            c.objects = new UntornRef(o, id, c.objects);
            c.objectCount++;
            c.objectsAdded++;
        } catch (VirtualMachineError noMemory) {
            // The reader keeps it for ever.
        }
    }

    /** Whether a list with so many new entries may be worth a look. */
    static boolean isDue(int added, int count, int seen) {
        return added >= LEAST && added >= count / 4 && collections() != seen;
    }

    /** Looks through a thread's list if that is worth it. */
    static void look(UntornThread c) {
        if (isDue(c.objectsAdded, c.objectCount, c.objectsSeen)) sweep(c);
    }

    /** Takes out of a thread's list what is gone, and tells the reader. */
    private static void sweep(UntornThread c) {
        UntornThread.probe();
        c.objectsSeen = collections();
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
        c.objectsAdded = 0;
        if (gone == null) return;
        c.edgesFromAll();
        for (; gone != null; gone = gone.next) c.gone(UntornRecord.GONE_OBJECT, gone.id);
        c.room();
    }

    /** A thread ends: its list goes to all, and it looks through that of all if that is worth it. */
    static void handOver(UntornThread c) {
        UntornThread.probe();
        give(c);
        if (!take(c)) return;
        sweep(c);
        give(c);
    }

    private static void give(UntornThread c) {
        UntornRef first = c.objects, last = first;
        if (first == null) return;
        while (last.next != null) last = last.next;
        UntornMemory.globalLock();
        try {
            last.next = orphans;
            orphans = first;
            orphanCount += c.objectCount;
            orphansAdded += c.objectsAdded;
            c.objects = null;
            c.objectCount = c.objectsAdded = 0;
        } finally {
            UntornMemory.globalUnlock();
        }
    }

    private static boolean take(UntornThread c) {
        if (!isDue(orphansAdded, orphanCount, orphansSeen)) return false;
        UntornMemory.globalLock();
        try {
            c.objects = orphans;
            c.objectCount = orphanCount;
            orphans = null;
            orphanCount = orphansAdded = 0;
            orphansSeen = collections;
        } finally {
            UntornMemory.globalUnlock();
        }
        return true;
    }
}
