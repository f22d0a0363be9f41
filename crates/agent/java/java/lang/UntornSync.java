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

    /**
     * A monitor was taken, by a frame that will give it up. What cannot be told to be given up is not told to be taken:
     * where the stack is too short for either, the frame fails here, and gives up what nobody was told of. The frame is the
     * same when it gives the monitor up, so it has enough stack then, too.
     */
    static void entered(Object lock, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip || !c.hasPlace()) return;
        UntornStack.forGiving();
        long release = 0;
        if (!UntornMode.LONE_LOCKS || !UntornPlaces.isOwn(lock, true, c)) {
            UntornShadow.abandon(c);
            UntornEntry entry = UntornTable.find(lock, c);
            if (entry == null) return;
            release = record(UntornRecord.RELEASE, site, entry);
            acquired(entry, site, c);
        }
        // No call from here on: a monitor counts if and only if its record is written.
        c.monitors[(int) (c.open >> 32)] = release;
        c.open += UntornThread.MONITOR;
    }

    /** A monitor is about to be given up that was taken when so much was open. */
    static void exiting(Object lock, int site, long mark, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        if ((c.open >> 32) - (mark >> 32) != 1 && !c.straightenMonitors((mark >> 32) + 1)) return;
        UntornEntry entry = null;
        if (!UntornMode.LONE_LOCKS || !UntornPlaces.isOwn(lock, false, c)) {
            UntornShadow.abandon(c);
            entry = UntornTable.find(lock, c);
        }
        if (entry == null) {
            // Not to be given up a second time.
            c.open -= UntornThread.MONITOR;
        } else if (UntornMode.LONE_LOCKS && entry.user == 0) {
            // Taken without an entry.
            c.open -= UntornThread.MONITOR;
            entry.setLast(c.here());
        } else {
            releasing(entry, site, UntornThread.MONITOR, c);
        }
    }

    /** The same if it is the one that was taken last. */
    static void exitingLast(Object lock, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        c.unwind();
        int held = (int) (c.open >> 32);
        if (held == 0) return;
        long release = c.monitors[held - 1];
        UntornEntry entry = release == 0 ? null : UntornTable.find(lock, c);
        long id = release & (1L << UntornRecord.LOCK_BITS) - 1;
        if (release == 0 || entry != null && entry.lock == id) exiting(lock, site, c.open - UntornThread.MONITOR, c);
    }

    /**
     * A frame gave a monitor up and had no stack to say so. It may have other holders since, which come after this thread by
     * {@link UntornEntry#holder}; so what they write is left alone: a count that stays too high only has more recorded.
     */
    static void lost(long release, UntornThread c) {
        long lock = release & (1L << UntornRecord.LOCK_BITS) - 1;
        UntornEntry entry = UntornTable.ofLock(lock);
        boolean recorded = entry != null && entry.recorded > 0 && entry.holder == c.id;
        if (entry != null && !recorded && isLone(entry, c)) {
            if (entry.depth > 0) entry.depth--;
            c.open -= UntornThread.MONITOR;
            return;
        }
        c.log(UntornRecord.UNWOUND, UntornRecord.UNWOUND_MONITOR | lock);
        c.open -= UntornThread.MONITOR;
        if (entry != null) follow(entry, c);
    }

    /** A monitor or exclusive lock was taken. */
    static void acquired(UntornEntry entry, int site, UntornThread c) {
        // Who holds it records all of it, whatever is left out meanwhile.
        boolean again = entry.recorded > 0 && entry.holder == c.id;
        if (!again) {
            if (UntornMode.SECOND && c.skip && !(isLone(entry, c) && entry.depth > 0)) return;
            if (UntornMode.LONE_LOCKS && takeAlone(entry, c)) return;
        }
        c.room();
        c.edge(entry.last());
        if (!again) {
            if (entry.crossed) return;
            // Its last holder may have been unable to say that it gave it up, and then left no position.
            if (entry.recorded > 0) c.edgeFrom(entry.holder);
            entry.recorded = 0;
            entry.holder = c.id;
        }
        c.write(record(UntornRecord.ACQUIRE, site, entry));
        entry.recorded++;
    }

    private static boolean isLone(UntornEntry entry, UntornThread c) {
        return UntornMode.LONE_LOCKS && entry.user == c.id + 1;
    }

    /** Whether the holder of a lock is still the only one that ever held it. */
    private static boolean takeAlone(UntornEntry entry, UntornThread c) {
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

    /**
     * An exclusive lock is about to be given up. What is recorded follows what was recorded when it was taken: the reader
     * must not be told of a release of what it does not know to be held, nor miss one.
     */
    static void releasing(UntornEntry entry, int site, UntornThread c) {
        releasing(entry, site, 0, c);
    }

    /** The same for a monitor, which then counts as given up in {@link UntornThread#open}. */
    private static void releasing(UntornEntry entry, int site, long monitor, UntornThread c) {
        boolean recorded = entry.recorded > 0 && entry.holder == c.id;
        if (recorded) {
            c.room();
            c.write(record(UntornRecord.RELEASE, site, entry));
        } else if (isLone(entry, c) && entry.depth > 0) {
            entry.depth--;
        } else if (entry.explicit) {
            // Taken before it was watched, or not this thread's at all: others may write the entry now.
            if (!entry.owned) entry.cross();
            if (!UntornMode.SECOND || !c.skip) chain(entry, 0, c);
            return;
        }
        c.open -= monitor;
        entry.setLast(c.here());
        // Last: without a position the count still tells whom the next holder comes after.
        if (recorded) entry.recorded--;
    }

    static void waiting(Object lock, int site, UntornThread c) {
        // Otherwise the call throws.
        if (c.silent || !Thread.holdsLock(lock)) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(lock, c);
        if (entry == null) return;
        if (UntornMode.LONE_LOCKS && entry.user == 0 && !UntornMode.SECOND) {
            // Held without an entry so far.
            entry.user = c.id + 1;
            entry.depth = 1;
        }
        waits(entry, site, c);
    }

    /** A monitor or lock is given up to wait; if the reader does not know of it as this thread's alone, it does from here on. */
    static void waits(UntornEntry entry, int site, UntornThread c) {
        if (isLone(entry, c) && entry.depth > 0) {
            for (; entry.depth > 0; entry.depth--) {
                entry.recorded++;
                c.room();
                c.write(record(UntornRecord.ACQUIRE, site, entry));
            }
            entry.holder = c.id;
            entry.user = UntornEntry.MANY;
        }
        if (entry.recorded > 0 && entry.holder == c.id) {
            c.waitsOn = entry;
            c.waitDepth = entry.recorded;
            c.waitSite = site;
            entry.recorded = 0;
            c.part();
            c.room();
            c.write(record(UntornRecord.WAIT, site, entry));
        } else {
            c.split();
            if (entry.explicit) {
                chain(entry, 0, c);
                return;
            }
        }
        entry.setLast(c.here());
    }

    /** A wait is over, in whatever way, and what was given up is held again. */
    static void woken(UntornThread c) {
        UntornEntry entry = c.waitsOn;
        if (entry == null || c.silent) return;
        c.waitsOn = null;
        entry.recorded = c.waitDepth;
        entry.holder = c.id;
        c.room();
        // The notifier held the monitor and gave it up since, so the last release is after the notification.
        c.edge(entry.last());
        c.write(record(UntornRecord.WAKE, c.waitSite, entry));
        c.rejoin();
    }

    static void notifying(Object lock, int site, UntornThread c) {
        if (c.silent || !Thread.holdsLock(lock)) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(lock, c);
        if (entry != null) notifies(entry, site, c);
    }

    static void notifies(UntornEntry entry, int site, UntornThread c) {
        if (entry.recorded == 0 || entry.holder != c.id) return;
        c.room();
        c.write(record(UntornRecord.NOTIFY, site, entry));
    }

    /** A lock was taken together with other readers. */
    static void acquiredShared(UntornEntry entry, int site, UntornThread c) {
        boolean again = c.reads.holds(entry);
        if (UntornMode.SECOND && c.skip && !again) {
            if (!entry.owned) c.reads.addLeftOut(entry);
            return;
        }
        c.room();
        c.edge(entry.last());
        if (entry.crossed && !again) {
            c.reads.addLeftOut(entry);
            return;
        }
        if (!c.reads.add(entry)) return;
        c.write(record(UntornRecord.ACQUIRE_SHARED, site, entry));
        if (!entry.owned) entry.share(1);
    }

    static void releasingShared(UntornEntry entry, int site, UntornThread c) {
        if (c.reads.drop(entry)) {
            if (!entry.owned) entry.share(-1);
            chain(entry, record(UntornRecord.RELEASE_SHARED, site, entry), c);
            return;
        }
        if (!entry.owned && !c.reads.dropLeftOut(entry)) entry.cross();
        if (!UntornMode.SECOND || !c.skip) chain(entry, 0, c);
    }

    static void signal(Object synchronizer, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(synchronizer, c);
        if (entry != null) chain(entry, record(UntornRecord.SIGNAL, site, entry), c);
    }

    static void await(Object synchronizer, int site, UntornThread c) {
        c.waited();
        if (c.silent || UntornMode.SECOND && c.skip) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(synchronizer, c);
        if (entry == null) return;
        c.room();
        c.edge(entry.last());
        c.write(record(UntornRecord.AWAIT, site, entry));
    }

    /** A release without a holder, or one that leaves no record (0): after the one before, and found by who comes next. */
    private static void chain(UntornEntry entry, long record, UntornThread c) {
        c.room();
        if (record != 0) c.write(record);
        follow(entry, c);
    }

    /** Who comes next comes after this thread and all that released before. */
    private static void follow(UntornEntry entry, UntornThread c) {
        for (;;) {
            long before = entry.last();
            c.room();
            c.edge(before);
            if (entry.replaceLast(before, c.here())) return;
        }
    }

    static long record(int op, int site, UntornEntry entry) {
        return (long) op << UntornRecord.OP_SHIFT
                | (long) (site & UntornRecord.SITE_MASK) << UntornRecord.LOCK_BITS | entry.lock;
    }

    // ---- threads --------------------------------------------------------------------------------------------------

    static void fork(Thread child) {
        try {
            UntornThread c = UntornThread.current();
            if (c.silent || UntornThreads.of(child) != null) return;
            UntornThread born = UntornThreads.attach(child, 0);
            if (born.silent) return;
            c.log(UntornRecord.FORK, (long) c.callSite << UntornRecord.THREAD_BITS | born.id);
            // The child has not started, so nobody else writes its context.
            born.firstEdge = c.here();
        } catch (VirtualMachineError noMemory) {
            // The child gets its context on first use, without an edge from here.
        }
    }

    static void joined(Thread child) {
        UntornThread ended = UntornThreads.of(child);
        if (ended == null || ended == UntornThread.current() || child.isAlive()) return;
        UntornThread c = UntornThread.current();
        if (c.silent || ended.position() == 0 && ended.firstEdge == 0) return;
        c.room();
        c.edge((long) ended.id << UntornRecord.POSITION_BITS | ended.position());
        c.write((long) UntornRecord.JOIN << UntornRecord.OP_SHIFT
                | (long) c.callSite << UntornRecord.THREAD_BITS | ended.id);
    }

    static void exited(Thread thread) {
        UntornThread c = UntornThreads.of(thread);
        if (c != null) c.end();
    }
}
