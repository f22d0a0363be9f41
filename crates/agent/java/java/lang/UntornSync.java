package java.lang;

/**
 * Orders locks, wait sets, synchronizers and the lives of threads.
 *
 * A release writes its record and then leaves its position in the lock's entry; an acquisition draws an edge from there.
 * A monitor or exclusive lock is held by the thread that writes the entry, so a plain publication is enough. Shared
 * releases and signals have no holder: each draws an edge from the one before and replaces it, so the last one stands
 * for all. That orders them in real time, which adds no cycle and is no conflict to any analysis.
 *
 * <p>Where nobody asks which locks are held ({@link UntornMode#LONE_LOCKS}), a lock goes unrecorded until a second thread
 * takes it: until then it orders nothing. The second thread's edge comes from the first one's last release as always. Lost
 * is the synchronization from that release to the second thread, as an event; the second thread learned of the lock by a
 * publication that is ordered as well. A thread that waits on such a lock expects another one, so the lock is recorded
 * from there on.
 *
 * <p>The monitor of a watched object does not even get an entry while the object's shadow word is its holder's alone
 * ({@link UntornPlaces#isOwn}). Who finds the word to be another thread's takes it away, with an edge from there, before it
 * makes the entry; from then on everybody uses the entry. A holder that lost the word meanwhile makes the entry when it
 * gives the monitor up.
 */
final class UntornSync {
    private UntornSync() {}

    /** A monitor is about to be taken. */
    static void entering(Object lock, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        if (!UntornMode.LONE_LOCKS || !UntornPlaces.isOwn(lock, true, c)) UntornTable.find(lock, c);
    }

    /** A monitor was taken. */
    static void entered(Object lock, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        if (!UntornMode.LONE_LOCKS || !UntornPlaces.isOwn(lock, true, c)) {
            acquired(lock, UntornThread.ACQUIRE, site, c);
        }
    }

    /** A monitor is about to be given up. */
    static void exiting(Object lock, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        if (!UntornMode.LONE_LOCKS || !UntornPlaces.isOwn(lock, false, c)) {
            releasing(lock, UntornThread.RELEASE, site, c);
        }
    }

    static void acquired(Object lock, int op, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(lock, c);
        if (entry == null) return;
        UntornEntry whole = entry.whole;
        if (whole != null) {
            if (entry.readers && op == UntornThread.ACQUIRE) op = UntornThread.ACQUIRE_SHARED;
            entry = whole;
        } else if (UntornMode.LONE_LOCKS && op == UntornThread.ACQUIRE) {
            if (isLone(entry, c)) return;
        } else if (UntornMode.LONE_LOCKS && op == UntornThread.ACQUIRE_SHARED) {
            share(entry, site, c);
        }
        c.room();
        c.edge(entry.last());
        c.write(record(op, site, entry));
    }

    /** Whether the holder of a lock is still the only one that ever held it. */
    private static boolean isLone(UntornEntry entry, UntornThread c) {
        int user = entry.user;
        boolean lone = user == 0 || user == c.id + 1;
        if (user == 0) {
            // It may have been somebody's without an entry.
            c.room();
            c.edge(entry.last());
        }
        entry.user = lone ? c.id + 1 : UntornEntry.MANY;
        if (lone) entry.depth++;
        return lone;
    }

    /** Whether the reader does not know that this thread holds a lock. */
    private static boolean isUnrecorded(UntornEntry entry, UntornThread c) {
        return entry.user == c.id + 1 || entry.user == 0;
    }

    /** Others may take the lock from here on: it is recorded, and so is that this thread holds it. */
    private static void share(UntornEntry entry, int site, UntornThread c) {
        if (entry.user == c.id + 1) {
            for (; entry.depth > 0; entry.depth--) {
                c.room();
                c.write(record(UntornThread.ACQUIRE, site, entry));
            }
        } else if (entry.user == 0) {
            // Held without an entry so far.
            c.room();
            c.write(record(UntornThread.ACQUIRE, site, entry));
        }
        entry.user = UntornEntry.MANY;
    }

    static void releasing(Object lock, int op, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(lock, c);
        if (entry == null) return;
        UntornEntry whole = entry.whole;
        if (whole != null) {
            if (entry.readers && op == UntornThread.RELEASE) op = UntornThread.RELEASE_SHARED;
            entry = whole;
        }
        if (op == UntornThread.RELEASE) {
            if (UntornMode.LONE_LOCKS && isUnrecorded(entry, c)) {
                if (entry.depth > 0) entry.depth--;
            } else {
                c.room();
                c.write(record(op, site, entry));
            }
            entry.setLast(c.here());
        } else {
            chain(entry, record(op, site, entry), c);
        }
    }

    static void waiting(Object lock, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = held(lock, c);
        if (entry == null) return;
        if (UntornMode.LONE_LOCKS) share(entry, site, c);
        c.part();
        c.room();
        c.write(record(UntornThread.WAIT, site, entry));
        entry.setLast(c.here());
        c.waitsOn = entry;
    }

    static void woken(Object lock, int site, UntornThread c) {
        UntornEntry entry = c.waitsOn;
        if (entry == null || c.silent) return;
        c.waitsOn = null;
        c.room();
        // The notifier held the monitor and gave it up since, so the last release is after the notification.
        c.edge(entry.last());
        c.write(record(UntornThread.WAKE, site, entry));
        c.rejoin();
    }

    static void notifying(Object lock, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = held(lock, c);
        if (entry == null || UntornMode.LONE_LOCKS && isUnrecorded(entry, c)) return;
        c.room();
        c.write(record(UntornThread.NOTIFY, site, entry));
    }

    /** The lock whose monitor or condition this is, if it can be waited for now. */
    private static UntornEntry held(Object lock, UntornThread c) {
        if (Thread.holdsLock(lock)) return UntornTable.find(lock, c);
        UntornEntry entry = UntornTable.find(lock, c);
        return entry == null ? null : entry.whole;
    }

    static void belongs(Object part, Object lock, int mode, UntornThread c) {
        if (c.silent) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(part, c);
        UntornEntry whole = UntornTable.find(lock, c);
        if (entry == null || whole == null || entry.whole != null) return;
        if (whole.whole != null) whole = whole.whole;
        UntornTable.join(entry, whole, mode == UntornRuntime.SHARED);
    }

    static void signal(Object synchronizer, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(synchronizer, c);
        if (entry != null) chain(entry, record(UntornThread.SIGNAL, site, entry), c);
    }

    static void await(Object synchronizer, int site, UntornThread c) {
        c.waited();
        acquired(synchronizer, UntornThread.AWAIT, site, c);
    }

    /** A release without a holder: after the one before, and found by who comes next. */
    private static void chain(UntornEntry entry, long record, UntornThread c) {
        c.room();
        c.write(record);
        for (;;) {
            long before = entry.last();
            c.room();
            c.edge(before);
            if (entry.replaceLast(before, c.here())) return;
        }
    }

    private static long record(int op, int site, UntornEntry entry) {
        return (long) op << UntornThread.OP_SHIFT
                | (long) (site & UntornThread.SITE_MASK) << UntornThread.LOCK_BITS | entry.lock;
    }

    // ---- threads --------------------------------------------------------------------------------------------------

    static void fork(Thread child) {
        try {
            UntornThread c = UntornThread.current();
            if (c.silent || UntornThread.of(child) != null) return;
            UntornThread born = UntornThread.attach(child, 0);
            if (born.silent) return;
            c.log(UntornThread.FORK, (long) c.callSite << UntornThread.THREAD_BITS | born.id);
            // The child has not started, so nobody else writes its context.
            born.firstEdge = c.here();
        } catch (Throwable noMemory) {
            // The child gets its context on first use, without an edge from here.
        }
    }

    static void joined(Thread child) {
        UntornThread ended = UntornThread.of(child);
        if (ended == null || ended == UntornThread.current() || child.isAlive()) return;
        UntornThread c = UntornThread.current();
        if (c.silent || ended.position() == 0 && ended.firstEdge == 0) return;
        c.room();
        c.edge((long) ended.id << UntornThread.POSITION_BITS | ended.position());
        c.write((long) UntornThread.JOIN << UntornThread.OP_SHIFT
                | (long) c.callSite << UntornThread.THREAD_BITS | ended.id);
    }

    static void exited(Thread thread) {
        UntornThread c = UntornThread.of(thread);
        if (c != null) c.end();
    }
}
