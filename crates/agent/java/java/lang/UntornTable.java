package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * A weak table by identity: from an object to its {@link UntornEntry}, without calling its {@code hashCode}.
 *
 * Lookups take no lock. Insertion and growth take one; growth drops entries whose object is gone and relinks the others
 * in place. A lookup that meets a chain being relinked can miss its entry (never loop, since a moved entry leads only to
 * moved ones), and then looks again under the lock.
 */
final class UntornTable {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long LOCK = U.allocateMemory(8);
    private static volatile UntornEntry[] buckets = new UntornEntry[1024];
    private static int size;

    static {
        U.putInt(LOCK, 0);
    }

    private UntornTable() {}

    /** The entry of an object, new or known; null when memory is short. */
    @ForceInline
    static UntornEntry find(Object o, UntornThread c) {
        UntornEntry recent = c.recent;
        return recent != null && recent.refersTo(o) ? recent : search(o, c);
    }

    private static UntornEntry search(Object o, UntornThread c) {
        UntornEntry entry = c.earlier;
        if (entry == null || !entry.refersTo(o)) {
            long place = UntornPlaces.entry(o);
            entry = place == 0 ? known(o, c) : carried(o, place, c);
            if (entry == null) return null;
        }
        c.earlier = c.recent;
        c.recent = entry;
        return entry;
    }

    /** The entry of an object that carries it there. */
    private static UntornEntry carried(Object o, long place, UntornThread c) {
        UntornEntry entry = (UntornEntry) U.getReferenceAcquire(o, place);
        if (entry == null || !entry.refersTo(o)) {
            entry = known(o, c);
            if (entry != null) U.putReferenceRelease(o, place, entry);
        }
        return entry;
    }

    /** The entry of an object by its hash. */
    private static UntornEntry known(Object o, UntornThread c) {
        int hash = System.identityHashCode(o);
        UntornEntry entry = look(buckets, o, hash);
        return entry != null ? entry : add(o, hash, c);
    }

    private static UntornEntry look(UntornEntry[] table, Object o, int hash) {
        for (UntornEntry e = table[hash & table.length - 1]; e != null; e = e.next) {
            if (e.hash == hash && e.refersTo(o)) return e;
        }
        return null;
    }

    private static UntornEntry add(Object o, int hash, UntornThread c) {
        UntornThread.probe();
        try {
            boolean isClass = o instanceof Class;
            int classId = isClass ? named((Class<?>) o) : classOf(o.getClass(), c);
            long id = UntornThread.newLock();
            if (id >= 1L << UntornThread.LOCK_BITS) return null;
            c.room();
            int op = isClass ? UntornThread.NEW_CLASS_LOCK : UntornThread.NEW_LOCK;
            c.write((long) op << UntornThread.OP_SHIFT
                    | (long) (classId & UntornThread.SITE_MASK) << UntornThread.LOCK_BITS | id);
            UntornEntry made = new UntornEntry(o, hash, id, classId, c.here());
            UntornEntry[] grown = size > buckets.length ? new UntornEntry[buckets.length * 2] : null;
            lock();
            try {
                UntornEntry known = look(buckets, o, hash);
                if (known != null) return known;
                if (size > buckets.length) sweep(grown);
                UntornEntry[] table = buckets;
                int bucket = hash & table.length - 1;
                made.next = table[bucket];
                U.storeFence();
                table[bucket] = made;
                size++;
                return made;
            } finally {
                unlock();
            }
        } catch (Throwable noMemory) {
            return null;
        }
    }

    /** The reader's id of a class, which hangs on the entry of the class object itself. */
    private static int classOf(Class<?> k, UntornThread c) {
        UntornEntry entry = look(buckets, k, System.identityHashCode(k));
        if (entry == null) entry = add(k, System.identityHashCode(k), c);
        return entry == null ? 0 : entry.classId;
    }

    private static int named(Class<?> k) {
        int id = UntornThread.newClass();
        UntornRuntime.nameClass(id, k.getName());
        return id;
    }

    /** Drops what is gone; doubles the table only if that was less than half. */
    private static void sweep(UntornEntry[] grown) {
        UntornEntry[] old = buckets;
        int alive = 0;
        for (UntornEntry head : old) {
            for (UntornEntry e = head; e != null; e = e.next) {
                if (!e.refersTo(null)) alive++;
            }
        }
        UntornEntry[] table = alive > old.length / 2 && grown != null && grown.length > old.length ? grown : old;
        int kept = 0;
        for (int i = 0; i < old.length; i++) {
            UntornEntry head = old[i];
            if (table == old) {
                old[i] = null;
            }
            while (head != null) {
                UntornEntry after = head.next;
                if (!head.refersTo(null)) {
                    int bucket = head.hash & table.length - 1;
                    head.next = table[bucket];
                    U.storeFence();
                    table[bucket] = head;
                    kept++;
                }
                head = after;
            }
        }
        size = kept;
        buckets = table;
    }

    private static void lock() {
        for (int tries = 1; !U.compareAndSetInt(null, LOCK, 0, 1); tries++) UntornThread.pause(tries);
    }

    private static void unlock() {
        U.putIntRelease(null, LOCK, 0);
    }
}
