package java.lang;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * A weak table by identity: from an object to its {@link UntornEntry}, without calling its {@code hashCode}.
 *
 * Lookups take no lock. Insertion and sweeps take one; a sweep drops entries whose object is gone and relinks the others
 * in place, when the collector has run and the table has grown by a quarter, or when it is full. A lookup that meets a
 * chain being relinked can miss its entry (never loop, since a moved entry leads only to moved ones), and then looks
 * again under the lock.
 *
 * Who drops entries tells the reader, after edges from everything written so far: their objects are gone, so nobody can
 * write of them any more (see {@link UntornRef}).
 */
final class UntornTable {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long LOCK = U.allocateMemory(8);
    private static volatile UntornEntry[] buckets = new UntornEntry[1024];
    private static int size;
    /** Entries since the last sweep, and when that was (see {@link UntornRef#collections}). */
    private static int added, swept;

    static {
        U.putInt(LOCK, 0);
    }

    private UntornTable() {}

    /** The entry of an object, new or known; null when memory is short. */
    @ForceInline
    static UntornEntry find(Object o, UntornThread c) {
        UntornEntry recent = c.recent;
        return recent != null && recent.refersTo(o) ? recent : search(o, o.getClass(), c);
    }

    /** The same for what a set holds its elements in: it is called by the set, through which alone it is used. */
    @ForceInline
    static UntornEntry find(Object o, Object user, UntornThread c) {
        UntornEntry recent = c.recent;
        if (recent != null && recent.refersTo(o)) return recent;
        return search(o, o instanceof Map && isSet(user.getClass()) ? user.getClass() : o.getClass(), c);
    }

    private static boolean isSet(Class<?> k) {
        return k == HashSet.class || k == LinkedHashSet.class || k == TreeSet.class
                || k == ConcurrentSkipListSet.class;
    }

    private static UntornEntry search(Object o, Class<?> called, UntornThread c) {
        UntornEntry entry = c.earlier;
        if (entry == null || !entry.refersTo(o)) {
            long place = UntornPlaces.entry(o);
            entry = place == 0 ? known(o, called, c) : carried(o, place, called, c);
            if (entry == null) return null;
        }
        c.earlier = c.recent;
        c.recent = entry;
        return entry;
    }

    /** The entry of an object that carries it there. */
    private static UntornEntry carried(Object o, long place, Class<?> called, UntornThread c) {
        UntornEntry entry = (UntornEntry) U.getReferenceAcquire(o, place);
        if (entry == null || !entry.refersTo(o)) {
            entry = known(o, called, c);
            if (entry != null) U.putReferenceRelease(o, place, entry);
        }
        return entry;
    }

    /** The entry of an object by its hash. */
    private static UntornEntry known(Object o, Class<?> called, UntornThread c) {
        int hash = System.identityHashCode(o);
        UntornEntry entry = look(buckets, o, hash, false);
        return entry != null ? entry : add(o, hash, called, false, c);
    }

    /** The entry of a lock of the platform, which its carrier holds from then on; the lock is called by a class. */
    static UntornEntry lock(Object carrier, Class<?> called, UntornThread c) {
        return add(carrier, System.identityHashCode(carrier), called, true, c);
    }

    /** The entry of a lock by its id, if it is still there; for the rare case in which nobody has the object. */
    static UntornEntry ofLock(long lock) {
        for (UntornEntry head : buckets) {
            for (UntornEntry e = head; e != null; e = e.next) {
                if (e.lock == lock) return e;
            }
        }
        return null;
    }

    private static UntornEntry look(UntornEntry[] table, Object o, int hash, boolean explicit) {
        for (UntornEntry e = table[hash & table.length - 1]; e != null; e = e.next) {
            if (e.hash == hash && e.explicit == explicit && e.refersTo(o)) return e;
        }
        return null;
    }

    private static UntornEntry add(Object o, int hash, Class<?> k, boolean explicit, UntornThread c) {
        UntornThread.probe();
        try {
            boolean isClass = o instanceof Class;
            int classId = isClass ? named((Class<?>) o) : classOf(k, c);
            long id = UntornMemory.newLock();
            c.room();
            int op = isClass ? UntornRecord.NEW_CLASS_LOCK : UntornRecord.NEW_LOCK;
            c.write((long) op << UntornRecord.OP_SHIFT
                    | (long) (classId & UntornRecord.SITE_MASK) << UntornRecord.LOCK_BITS | id);
            UntornEntry made = new UntornEntry(o, hash, id, classId, explicit, c.here());
            UntornEntry[] grown = size > buckets.length ? new UntornEntry[buckets.length * 2] : null;
            boolean isDue = UntornRef.isDue(added, size, swept);
            UntornEntry gone = null;
            lock();
            try {
                UntornEntry known = look(buckets, o, hash, explicit);
                if (known != null) return known;
                if (size > buckets.length || isDue) gone = sweep(grown);
                UntornEntry[] table = buckets;
                int bucket = hash & table.length - 1;
                made.next = table[bucket];
                U.storeFence();
                table[bucket] = made;
                size++;
                added++;
            } finally {
                unlock();
            }
            if (gone != null) report(gone, c);
            return made;
        } catch (VirtualMachineError noMemory) {
            return null;
        }
    }

    /** The reader's id of a class, which hangs on the entry of the class object itself. */
    private static int classOf(Class<?> k, UntornThread c) {
        UntornEntry entry = look(buckets, k, System.identityHashCode(k), false);
        if (entry == null) entry = add(k, System.identityHashCode(k), Class.class, false, c);
        return entry == null ? 0 : entry.classId;
    }

    private static int named(Class<?> k) {
        int id = UntornMemory.newClass();
        UntornNatives.nameClass(id, k.getName());
        return id;
    }

    private static boolean isGone(UntornEntry e) {
        return e.refersTo(null);
    }

    /** Tells the reader what was dropped. */
    private static void report(UntornEntry gone, UntornThread c) {
        // Nobody keeps anything by id there, and an edge means something else.
        if (UntornMode.FIRST) return;
        c.edgesFromAll();
        for (; gone != null; gone = gone.next) {
            long object = gone.object();
            if (object != 0) c.gone(UntornRecord.GONE_OBJECT, object);
            c.gone(UntornRecord.GONE_LOCK, gone.lock);
        }
        c.room();
    }

    /** Drops what is gone and returns it; doubles the table only if that was less than half. */
    private static UntornEntry sweep(UntornEntry[] grown) {
        UntornEntry[] old = buckets;
        int alive = 0;
        for (UntornEntry head : old) {
            for (UntornEntry e = head; e != null; e = e.next) {
                if (!isGone(e)) alive++;
            }
        }
        UntornEntry[] table = alive > old.length / 2 && grown != null && grown.length > old.length ? grown : old;
        int kept = 0;
        UntornEntry gone = null;
        for (int i = 0; i < old.length; i++) {
            UntornEntry head = old[i];
            if (table == old) {
                old[i] = null;
            }
            while (head != null) {
                UntornEntry after = head.next;
                if (isGone(head)) {
                    head.next = gone;
                    gone = head;
                } else {
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
        added = 0;
        swept = UntornRef.lastCollection();
        buckets = table;
        return gone;
    }

    private static void lock() {
        for (int tries = 1; !U.compareAndSetInt(null, LOCK, 0, 1); tries++) UntornMemory.pause(tries);
    }

    private static void unlock() {
        U.putIntRelease(null, LOCK, 0);
    }
}
