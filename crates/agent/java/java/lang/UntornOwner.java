package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Orders accesses without locking words: the optimistic stage.
 *
 * <p>States are Octet's (table 1 of the DoubleChecker paper), with an epoch ({@link UntornEpoch}) in the place of the
 * thread, and four more:
 *
 * <table>
 * <tr><th>word</th><th>meaning</th></tr>
 * <tr><td>0</td><td>nobody has touched the object</td></tr>
 * <tr><td>epoch, id</td><td>one thread alone has touched it, and its accesses were recorded</td></tr>
 * <tr><td>epoch alone</td><td>private: one thread alone has touched it; no id, and no access is recorded</td></tr>
 * <tr><td>WrEx, RdEx, epoch, id</td><td>shared before, used by one thread now</td></tr>
 * <tr><td>RdSh, number, id</td><td>read by several; whoever has seen that transition may read</td></tr>
 * <tr><td>{@link UntornShadow#CONTENDED} and the rest</td><td>contended, or used by virtual threads: the pessimistic
 *     stage, until one thread used it for long or many only read it</td></tr>
 * <tr><td>{@link #UNTRACKED}</td><td>given up; see {@link UntornEpoch}</td></tr>
 * </table>
 *
 * A thread that finds its own epoch (or, reading, a transition that it has seen) writes the record and makes its
 * access: nothing can come between, since the word changes hands only when the thread passes a safe point, and no class
 * is loaded there. All other transitions go through {@link #claim}: the edges that order the access first, then a
 * compare-and-set of the word, then the record.
 *
 * <p>Order. An ended epoch carries the position of its thread at death, behind all records of accesses under it, and the
 * claimer draws an edge from there. RdEx to RdSh needs no coordination (both only read) and draws an edge from the reader's
 * current position. A write to a read-shared object locks the word, coordinates with every thread, and draws an edge from each of
 * them; such objects go to the pessimistic stage unless no thread had to be asked any more. As there, edges leave from
 * positions read in real time, so they never form a cycle.
 *
 * <p>What one thread alone has touched is recorded while its class can afford it ({@link UntornBudget}), and private from
 * then on. An object that is made belongs to the thread that makes it, so a second thread is recorded from its first access
 * on in any case.
 *
 * <p>Private objects leave no record. Nothing false can follow, as everything that is recorded is in its right order:
 * what is missing only takes conflicts away. What is lost is little. The second thread got the object through a
 * publication by the first (a field, a queue, a lock, the start of a thread), which is itself recorded or ordered; a
 * conflict of the second thread with an access of the first before the publication runs in parallel to that order, in
 * the same direction, leaving the first thread no earlier than the access did and never later than its region's end.
 * Lost is a conflict with what the first thread did between the publication and the second thread's first access;
 * objects that change hands while they are private are counted.
 * Static fields are never private: everybody can reach them from the start, without any publication.
 * The first recorded access of an object that was private is preceded by an {@code OWNED} record with the first owner.
 * A first run records nothing, so there every word that its thread may write is an epoch alone, which takes no call.
 */
final class UntornOwner {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** An object that is tracked no more: an epoch that nobody has. */
    static final long UNTRACKED = UntornShadow.OWNER;

    /** So many threads at most share an object for reading: who then writes to it coordinates with all. */
    private static final int READERS = 64;

    private UntornOwner() {}

    /** An access whose word is not this thread's, or that came while somebody asked: sees to it that it may be made. */
    @DontInline
    static void claim(Object holder, long offset, int site, UntornThread c) {
        if (c.silent) return;
        Class<?> k = holder.getClass();
        boolean writes = (site & UntornRuntime.WRITES) != 0;
        boolean contended = false;
        for (;;) {
            c.room();
            if (!begin(c)) continue;
            long word = U.getLongVolatile(holder, offset);
            long mine = c.mine;
            if ((word & UntornShadow.CONTENDED) != 0 || word == 0 && mine == UntornEpoch.NONE) {
                if (UntornShadow.lockContended(holder, offset, site, c)) return;
                continue;
            }
            if (word == UNTRACKED || word == mine) return;
            if (word == 0) {
                long first = first(holder, k, writes, mine, c);
                if (!U.compareAndSetLong(holder, offset, 0, first)) continue;
                if (first != mine) c.write(UntornShadow.access(site, first));
                return;
            }
            long state = word & UntornShadow.STATE, object = word & UntornShadow.OBJECT;
            int epoch = (int) ((word & UntornShadow.OWNER) >>> UntornRecord.OBJECT_BITS);
            if (state == UntornShadow.RD_SH) {
                if (writes) {
                    if (unshare(holder, offset, word, site, c)) return;
                } else if (!c.fenced(epoch, UntornShadow.UNKNOWN_TRANSITION)) {
                    c.fence(epoch, UntornShadow.UNKNOWN_TRANSITION);
                } else {
                    c.write(UntornShadow.access(site, word));
                    return;
                }
                continue;
            }
            if ((word & UntornShadow.OWNER) == mine) {
                if (state == UntornShadow.FRESH && !UntornBudget.covers(k)) {
                    // This thread's until it passes a safe point: no other one changes the word. The id is given up; a
                    // thread that gets the object gives it another one, so conflicts with what is recorded are missed.
                    U.putLong(holder, offset, mine);
                    return;
                }
                if (state == UntornShadow.RD_EX && writes) {
                    long upgraded = exclusive(true, object, mine);
                    if (!U.compareAndSetLong(holder, offset, word, upgraded)) continue;
                }
                c.write(UntornShadow.access(site, word));
                return;
            }
            UntornThread owner = UntornEpoch.owner(epoch);
            if (owner != null && owner != c) {
                if (state == UntornShadow.RD_EX && !writes && UntornThreads.count() <= READERS
                        && mine != UntornEpoch.NONE) {
                    if (share(holder, offset, word, owner, site, c)) return;
                } else if (!UntornEpoch.coordinate(owner, epoch, c)) {
                    untrack(holder, offset, word);
                } else {
                    // Who reads may go on reading beside others, or write next.
                    contended = (UntornMode.FIRST || state != UntornShadow.FRESH) && (writes || c.chance(2));
                }
                continue;
            }
            if (owner == c || UntornEpoch.formerOwner(epoch) == c.id) {
                // This thread's own epoch of earlier.
                if (mine != UntornEpoch.NONE) {
                    long moved = word & ~UntornShadow.OWNER | mine;
                    // Others want what this thread has: while it only reads, they can read beside it and need not ask.
                    if (!writes && (state == UntornShadow.WR_EX || UntornMode.FIRST)) {
                        moved = UntornShadow.RD_EX | mine | object;
                    }
                    U.compareAndSetLong(holder, offset, word, moved);
                    continue;
                }
            } else {
                c.edge(UntornEpoch.end(epoch));
                // A first run may wait for room there.
                if (UntornMode.FIRST && c.mine != mine) continue;
            }
            boolean privately = state == UntornShadow.FRESH, unknown = privately && object == 0;
            if (unknown) object = named(holder, c);
            if (mine == UntornEpoch.NONE || contended) {
                if (!lock(holder, offset, word, c)) continue;
                if (privately) handedOver(k, epoch, unknown, object, c);
                c.word = UntornShadow.CONTENDED | (writes ? UntornShadow.WR_EX : UntornShadow.RD_EX) | c.owner | object;
                UntornShadow.deferUnlock(site, false, c);
            } else {
                long claimed = exclusive(writes, object, mine);
                if (!U.compareAndSetLong(holder, offset, word, claimed)) continue;
                if (privately) handedOver(k, epoch, unknown, object, c);
                c.write(UntornShadow.access(site, object));
            }
            return;
        }
    }

    /**
     * Ends the privacy of an object that another thread alone has touched, without an access; one that nobody has touched
     * becomes this thread's. What is not private stays as it is.
     */
    @DontInline
    static void publish(Object holder, long offset, UntornThread c) {
        Class<?> k = holder.getClass();
        for (;;) {
            c.room();
            if (!begin(c)) continue;
            long word = U.getLongVolatile(holder, offset), mine = c.mine;
            if (word == mine || word == UNTRACKED || (word & ~UntornShadow.OWNER) != 0) return;
            if (word == 0) {
                if (mine == UntornEpoch.NONE) return;
                if (U.compareAndSetLong(holder, offset, 0, first(holder, k, false, mine, c))) return;
                continue;
            }
            int epoch = (int) (word >>> UntornRecord.OBJECT_BITS);
            UntornThread owner = UntornEpoch.owner(epoch);
            if (owner != null && owner != c) {
                if (!UntornEpoch.coordinate(owner, epoch, c)) untrack(holder, offset, word);
                continue;
            }
            boolean own = owner == c || UntornEpoch.formerOwner(epoch) == c.id;
            if (own && mine != UntornEpoch.NONE) {
                U.compareAndSetLong(holder, offset, word, mine);
                continue;
            }
            if (!own) c.edge(UntornEpoch.end(epoch));
            long object = named(holder, c);
            long claimed = mine != UntornEpoch.NONE ? exclusive(false, object, mine)
                    : UntornShadow.CONTENDED | UntornShadow.RD_EX | c.owner | object;
            if (!U.compareAndSetLong(holder, offset, word, claimed)) continue;
            handedOver(k, epoch, true, object, c);
            return;
        }
    }

    /** An object that one thread alone had touched is another one's now; whether its accesses went unrecorded so far. */
    private static void handedOver(Class<?> k, int epoch, boolean unknown, long object, UntornThread c) {
        UntornBudget.earn(k);
        if (!unknown || UntornMode.FIRST) return;
        c.write(owned(UntornEpoch.formerOwner(epoch), object));
        c.handedOver++;
    }

    /** The word of an object that nobody has touched, for a thread that does. */
    private static long first(Object holder, Class<?> k, boolean writes, long mine, UntornThread c) {
        if (!UntornShadow.ELIDES || holder instanceof UntornWord) return exclusive(writes, named(holder, c), mine);
        return UntornBudget.covers(k) ? mine | named(holder, c) : mine;
    }

    /** An id for an object that had none. Before the word is claimed: memory is to be had, and no access is under way. */
    private static long named(Object holder, UntornThread c) {
        long object = c.newObject();
        UntornRef.remember(holder, object, c);
        return object;
    }

    /** Tells the reader who alone touched an object so far; the last number stands for all that do not fit. */
    private static long owned(int thread, long object) {
        int bits = UntornRecord.OP_SHIFT - UntornRecord.OBJECT_BITS;
        long known = Math.min(thread, (1 << bits) - 1);
        return (long) UntornRecord.OWNED << UntornRecord.OP_SHIFT | known << UntornRecord.OBJECT_BITS | object;
    }

    /** The word of an object that is owned from now on. */
    private static long exclusive(boolean writes, long object, long mine) {
        if (UntornMode.FIRST && writes) return mine;
        return (writes ? UntornShadow.WR_EX : UntornShadow.RD_EX) | mine | object;
    }

    /** An access begins here unless somebody asks; asked, the thread answers and starts anew. One that is to die is always asked. */
    private static boolean begin(UntornThread c) {
        if (U.getIntVolatile(c, UntornThread.POLL) == 0) return true;
        UntornEpoch.respond(c);
        return c.death != null;
    }

    /** Locks a word that was not locked, for the pessimistic stage; whether it was still the same. */
    static boolean lock(Object holder, long offset, long word, UntornThread c) {
        UntornShadow.abandon(c);
        c.offset = offset;
        c.word = 0;
        c.before = word;
        c.held = holder;
        if (U.compareAndSetLong(holder, offset, word, UntornShadow.locked(word, c))) return true;
        c.held = null;
        return false;
    }

    /** A second thread reads an object that another one reads; whether it became read-shared. */
    private static boolean share(Object holder, long offset, long word, UntornThread owner, int site,
            UntornThread c) {
        if (!c.share(holder, offset, word, owner)) return false;
        c.write(UntornShadow.access(site, word));
        return true;
    }

    /** A thread writes to a read-shared object; whether the word is locked, or given up. */
    private static boolean unshare(Object holder, long offset, long word, int site, UntornThread c) {
        UntornThread.probe();
        if (!lock(holder, offset, word, c)) return false;
        // A first run writes no records, so a lock costs it less than another coordination.
        boolean isRead = UntornMode.FIRST || UntornEpoch.hasReaders(c);
        if (!unshareLocked(holder, offset, word, c)) return true;
        // Only now, as this thread has passed safe points meanwhile. Who was asked for another word has read none since: a
        // phase of reading is over. Where readers must be asked for each write they would be asked for ever.
        long mine = c.mine;
        if (mine != UntornEpoch.NONE && !isRead) c.word = exclusive(true, word & UntornShadow.OBJECT, mine);
        UntornShadow.deferUnlock(site, false, c);
        return true;
    }

    /** The same of a word that is locked for it, which is contended then; false if it was given up. */
    static boolean unshareLocked(Object holder, long offset, long word, UntornThread c) {
        if (!UntornEpoch.coordinateWithAll(c)) {
            c.held = null;
            U.putLongRelease(holder, offset, UNTRACKED);
            UntornNatives.untracked();
            return false;
        }
        c.edgesFromAll();
        c.word = UntornShadow.CONTENDED | UntornShadow.WR_EX | c.owner | word & UntornShadow.OBJECT;
        return true;
    }

    static void untrack(Object holder, long offset, long word) {
        if (U.compareAndSetLong(holder, offset, word, UNTRACKED)) UntornNatives.untracked();
    }
}
