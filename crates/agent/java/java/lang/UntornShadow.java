package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Makes an access and its record one step, and logs the order of conflicting accesses: the pessimistic stage.
 *
 * <p>Every object of an instrumented class, static field, tracked array and collection has a shadow word:
 * lock bit 63, state 61..60, thread 59..38, object id 37..0. An access locks the word, logs the edges that its state
 * transition asks for, happens, writes its record, and frees the word with its new state. While the word is locked its
 * thread is the one that holds the lock.
 *
 * <p>States and transitions are those of Octet (table 1 of the DoubleChecker paper, section 3.2.1): {@code WrEx} and
 * {@code RdEx} name a thread, {@code RdSh} carries the number of its transition instead. They differ in that no
 * coordination is needed (the word is locked), and that every edge leaves from the other thread's current position,
 * which is later than what the paper needs and as right: positions are read in real time, so edges never form a cycle.
 *
 * <p>Guaranteed: of two conflicting accesses to one word, the record of the later one is preceded by an edge path from
 * the record of the earlier one. The induction is over the word's history: each state's owner (or, read-shared, the
 * chain of transitions) is after every write before it, and a write takes edges from everybody who may have read.
 *
 * <p>With optimistic tracking ({@link UntornOwner}) such words are those of objects that threads fight over. Then a field's
 * record is written when its word is locked, before the access, and the word stays locked until the thread's next safe
 * point ({@link UntornThread#deferred}), so that nothing need stand behind the access. Who wants the word meanwhile waits
 * for that safe point; if the holder sleeps, it is freed in its name ({@link #revoke}).
 *
 * <p>A thread can be thrown out of any of these methods, or of the access between them, by a lack of stack, and even
 * out of the handler that would clean up. Then {@link UntornThread#held} still names the word, and the thread's next
 * access, lock operation or end frees it; who waits for it meanwhile gives up on the object, of which nothing is recorded
 * from then on (or until the holder comes back): leaving accesses out makes no false finding. The same
 * rule covers accesses made by a class loader that the JVM calls in the middle of an access: the inner one is recorded,
 * the outer one is not.
 */
final class UntornShadow {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long DEFERRED = U.objectFieldOffset(UntornThread.class, "deferred");

    /** Whether words are owned ({@link UntornOwner}) and not locked; and whether private objects go unrecorded. */
    static final boolean OPTIMISTIC = UntornBoot.isOptimistic(), ELIDES = UntornBoot.elides();

    static final long LOCKED = 1L << 63;
    /** A word of the pessimistic stage; the optimistic one has others, too. */
    static final long CONTENDED = 1L << 62;
    static final int STATE_SHIFT = 60;
    static final long STATE = 3L << STATE_SHIFT, FRESH = 0, WR_EX = 1L << STATE_SHIFT, RD_EX = 2L << STATE_SHIFT,
            RD_SH = 3L << STATE_SHIFT;
    static final long OBJECT = (1L << UntornRecord.OBJECT_BITS) - 1;
    static final long OWNER = (1L << UntornRecord.THREAD_BITS) - 1 << UntornRecord.OBJECT_BITS;
    /** The number of a read-shared transition that does not fit the word: the reader must catch up with all. */
    static final long UNKNOWN_TRANSITION = (1L << UntornRecord.THREAD_BITS) - 1;

    /** In a locked word: somebody asks the holder for it. The state is not needed there. */
    private static final long MARKED = 1L << STATE_SHIFT;

    /** Naps before a holder is given up, about ten seconds; a fifth of one where it holds on to its word. */
    private static final int PATIENCE = OPTIMISTIC ? UntornEpoch.PATIENCE : 100_000;
    /** Tries before a holder is looked at, and between two looks. */
    private static final int SPINS = 100, LOOKS = 4;
    /**
     * Accesses by one thread, or reads, on average, after which a contended word is not locked any more: so many
     * as take about the time of a coordination.
     */
    private static final int REBIAS = 2048;
    /**
     * The same for one that is only read by threads that lock others in between: who writes to it next asks all readers, mostly
     * once for many such words. A thread that locks the same word again and again waits for somebody to write to it.
     */
    private static final int REBIAS_SHARED = 64;
    /** Reads on average until a first run takes a word that its thread alone reads for its own. */
    private static final int ALONE = 64;
    /**
     * What naps of coordinating threads have cost, in locked accesses that take eight times as long, and that were not made since; no
     * more than so many. Threads race on it. A word that everybody polls looks like one that nobody fights over: without this, who
     * writes to it would coordinate with everybody each time.
     */
    private static int debt;
    private static final int NAP_DEBT = 8 * 2048, MOST_DEBT = 1 << 24;

    private UntornShadow() {}

    // ---- the word's lock ------------------------------------------------------------------------------------------

    @ForceInline
    static void lock(Object o, int site, UntornThread c) {
        if (UntornMode.SECOND && c.skip) return;
        if (c.held != null && !recover(c)) return;
        long offset = UntornWords.offset(o, site & UntornRecord.SITE_MASK);
        if (offset > 0) take(o, offset, site, c);
    }

    // ---- optimistic tracking: the record comes first ----------------------------------------------------------------

    @ForceInline
    static void touch(Object o, int site, UntornThread c) {
        if (UntornMode.SECOND && c.skip) return;
        long offset = UntornWords.offset(o, site & UntornRecord.SITE_MASK);
        if (offset > 0) record(o, offset, site, c);
    }

    /** An access is recorded and then made; no safe point lies between. */
    @ForceInline
    static void record(Object holder, long offset, int site, UntornThread c) {
        if (!UntornMode.FIRST) c.room();
        long word = U.getLong(holder, offset);
        if (word == c.mine) return;
        if (allows(word, (site & UntornRuntime.WRITES) != 0, c)) {
            if (UntornMode.FIRST) alone(holder, offset, word, c);
            log(access(site, word), true, c);
        } else if ((word & CONTENDED) == 0 || !lockContended(holder, offset, site, c)) {
            UntornOwner.claim(holder, offset, site, c);
        }
    }

    /**
     * In a first run: what this thread alone reads for long becomes its own for writing, too, which a site tests without a
     * call. This thread may read it until its next safe point in any case.
     */
    @ForceInline
    private static void alone(Object holder, long offset, long word, UntornThread c) {
        if ((word & STATE) == RD_EX && c.chance(ALONE)) U.compareAndSetLong(holder, offset, word, c.mine);
    }

    /** Writes the record of an access, unless that changed nothing and was recorded just before. */
    @ForceInline
    private static void log(long access, boolean same, UntornThread c) {
        if (UntornMode.FIRST || same && ELIDES && UntornRepeats.contains(access, c)) return;
        c.write(access);
    }

    /** Whether this thread may make an access without asking anybody. */
    @ForceInline
    private static boolean allows(long word, boolean writes, UntornThread c) {
        long state = word & (LOCKED | CONTENDED | STATE);
        return (word & OWNER) == c.mine && (state == WR_EX || state == RD_EX && !writes)
                || state == RD_SH && !writes
                        && c.fenced((word & OWNER) >>> UntornRecord.OBJECT_BITS, UNKNOWN_TRANSITION);
    }

    /** Whether this thread could lock a contended word for reading without an edge and would leave it as it is. */
    static boolean isReadable(long word, UntornThread c) {
        if (word < 0 || (word & OBJECT) == 0) return false;
        long state = word & STATE;
        if (state == RD_SH) return c.fenced((word & OWNER) >>> UntornRecord.OBJECT_BITS, UNKNOWN_TRANSITION);
        return state != FRESH && (word & OWNER) == c.owner;
    }

    @ForceInline
    static long access(int site, long word) {
        return UntornRecord.ACCESS
                | (long) (site & UntornRecord.SITE_MASK) << UntornRecord.OBJECT_BITS | word & OBJECT;
    }

    /**
     * Locks the word at that place and records the access; the word is freed at the next safe point.
     * False if it is not one to be locked any more.
     */
    @DontInline
    static boolean lockContended(Object holder, long offset, int site, UntornThread c) {
        if (c.held != null && !recover(c)) return true;
        long last = c.word, before = take(holder, offset, site, c);
        if (c.held == null) return before == UntornOwner.UNTRACKED;
        // Whoever has it has had it for a while: perhaps nobody fights over it any more.
        boolean same = c.word == before;
        boolean shared = !UntornMode.FIRST && (before & STATE) == RD_SH && ((before ^ last) & OBJECT) != 0;
        int times = shared ? REBIAS_SHARED : REBIAS;
        if (same && c.chance(times) && isPaid(times)) c.word = rebiased(before, c);
        deferUnlock(site, same, c);
        return true;
    }

    /** A thread naps while it coordinates. */
    static void owe() {
        debt = Math.min(debt + NAP_DEBT, MOST_DEBT);
    }

    /** Whether so many accesses were made to locked words that another coordination may be afforded, with these. */
    private static boolean isPaid(int accesses) {
        int left = debt;
        if (left > 0) debt = left - accesses;
        return left <= 0;
    }

    /** The word of this thread, or of many readers, no longer to be locked. */
    private static long rebiased(long word, UntornThread c) {
        long mine = c.mine;
        if (mine == UntornEpoch.NONE) return word;
        return (word & STATE) == RD_SH ? word & ~CONTENDED : word & (STATE | OBJECT) | mine;
    }

    /** The word is locked and its next state known, perhaps the same as before: records the access. */
    static void deferUnlock(int site, boolean same, UntornThread c) {
        log(access(site, c.word), same, c);
        U.putLongRelease(c, DEFERRED, c.word);
        // A request to itself, so that this thread comes by here.
        U.putIntOpaque(c, UntornThread.POLL, 1);
    }

    /**
     * Locks the word at that place and moves it to the state that the access asks for; returns what it was.
     * Nothing is held afterwards if the word is not one to be locked.
     */
    @ForceInline
    static long take(Object holder, long offset, int site, UntornThread c) {
        c.room();
        c.offset = offset;
        c.word = 0;
        c.held = holder;
        long word = U.getLong(holder, offset);
        c.before = word;
        if (word < 0 || !locks(word) || !U.compareAndSetLong(holder, offset, word, locked(word, c))) {
            word = contend(holder, offset, c);
        }
        if (!locks(word)) {
            c.held = null;
            return word;
        }
        boolean writes = (site & UntornRuntime.WRITES) != 0;
        long mine = word & (STATE | OWNER) ^ c.owner;
        // Owned by this thread, and not a first write after reads.
        if (mine == WR_EX || mine == RD_EX && !writes) {
            c.word = word;
        } else {
            c.word = transition(word, writes, c);
        }
        return word;
    }

    /** Whether a word is one that accesses lock: not owned, nor given up. */
    @ForceInline
    private static boolean locks(long word) {
        return OPTIMISTIC ? word == 0 || (word & CONTENDED) != 0 : word != UntornOwner.UNTRACKED;
    }

    @ForceInline
    static long locked(long word, UntornThread c) {
        return word & OBJECT | c.owner | LOCKED | CONTENDED;
    }

    @ForceInline
    static void unlock(Object o, int site, UntornThread c) {
        if (c.held != o) return;
        long word = c.word;
        c.write(access(site, word));
        U.putLongRelease(o, c.offset, word);
        c.held = null;
    }

    /** Frees the word that this thread holds, if it does. */
    static void abandon(UntornThread c) {
        Object holder = c.held;
        if (holder == null || c.silent) return;
        for (;;) {
            long word = U.getLongVolatile(holder, c.offset);
            if (word >= 0 || (word & OWNER) != c.owner) break;
            // Without its next state there was no access, and perhaps not all edges are drawn that a new owner needs.
            long free = c.word != 0 ? c.word : c.before;
            // Fails if somebody asks for it just now, or frees it.
            if (U.compareAndSetLong(holder, c.offset, word, free)) break;
        }
        c.deferred = 0;
        c.held = null;
    }

    /** An access begins while another has not ended; whether it may go on. */
    @DontInline
    static boolean recover(UntornThread c) {
        abandon(c);
        return !c.silent;
    }

    /** The word is or was locked by another thread: waits for it. */
    @DontInline
    private static long contend(Object holder, long offset, UntornThread c) {
        for (int tries = 1; ; tries++) {
            c.poll();
            long word = U.getLongVolatile(holder, offset);
            if (!locks(word)) return word;
            if (word >= 0) {
                c.before = word;
                if (U.compareAndSetLong(holder, offset, word, locked(word, c))) return word;
            } else {
                // The holder is about to free it unless it was preempted, sleeps or loads a class.
                UntornMemory.pause(tries);
                if (OPTIMISTIC && tries >= SPINS && (tries - SPINS) % LOOKS == 0) revoke(holder, offset, word, c);
                if ((tries > PATIENCE || tries % 1024 == 0 && abandoned(holder, offset, word))
                        && U.compareAndSetLong(holder, offset, word, UntornOwner.UNTRACKED)) {
                    UntornNatives.untracked();
                    return UntornOwner.UNTRACKED;
                }
            }
        }
    }

    /**
     * Frees a word whose holder has made its access and sleeps.
     *
     * The holder is at a safe point when it is looked at, after the word was marked as marked; and if the mark is
     * still there afterwards, the word has not been freed and locked again meanwhile. Only who has the holder's gate
     * sets marks, so it is this one's.
     */
    @DontInline
    private static void revoke(Object holder, long offset, long word, UntornThread c) {
        UntornThread other = UntornThreads.byId((int) ((word & OWNER) >>> UntornRecord.OBJECT_BITS));
        if (other == null || other == c || !UntornEpoch.lockRequests(other)) return;
        try {
            long marked = word | MARKED;
            if (word != marked && !U.compareAndSetLong(holder, offset, word, marked)) return;
            long free = U.getLongVolatile(other, DEFERRED);
            if (free == 0 || !UntornEpoch.isAtSafePoint(other)) return;
            U.compareAndSetLong(holder, offset, marked, free);
        } finally {
            UntornEpoch.unlockRequests(other);
        }
    }

    /**
     * Whether a word is locked by a thread that does not hold it: it died, or ran out of stack, between lock and unlock.
     * Looked at twice, since the thread may be anywhere between taking the lock and saying so.
     */
    private static boolean abandoned(Object holder, long offset, long word) {
        int thread = (int) ((word & OWNER) >>> UntornRecord.OBJECT_BITS);
        for (int look = 0; look < 2; look++) {
            UntornThread other = UntornThreads.byId(thread);
            if (other != null && other.heldNow() == holder) return false;
            UntornEpoch.backOff(UntornMemory.NAP);
            if (U.getLongVolatile(holder, offset) != word) return false;
        }
        return true;
    }

    // ---- table 1 --------------------------------------------------------------------------------------------------

    /** The free word after an access by this thread, with the edges that order it logged. */
    @DontInline
    private static long transition(long word, boolean writes, UntornThread c) {
        long object = word & OBJECT;
        long state = word & STATE;
        int owner = (int) ((word & OWNER) >>> UntornRecord.OBJECT_BITS);
        if (object == 0) {
            object = c.newObject();
            UntornRef.remember(c.held, object, c);
        }
        object |= CONTENDED;
        if (state == FRESH) {
            return (writes ? WR_EX : RD_EX) | c.owner | object;
        }
        if (state == RD_SH) {
            if (writes) {
                c.edgesFromAll();
                return WR_EX | c.owner | object;
            }
            c.fence(owner, UNKNOWN_TRANSITION);
            return word;
        }
        if (owner != c.id) c.edgeFrom(owner);
        if (writes) return WR_EX | c.owner | object;
        if (state == WR_EX) return owner == c.id ? word : RD_EX | c.owner | object;
        if (owner == c.id) return word;
        long number = Math.min(c.share(), UNKNOWN_TRANSITION);
        return RD_SH | number << UntornRecord.OBJECT_BITS | object;
    }

    // ---- static fields --------------------------------------------------------------------------------------------

    @ForceInline
    static void lockStatic(int field, int site, UntornThread c) {
        if (UntornMode.SECOND && c.skip) return;
        if (c.held != null && !recover(c)) return;
        UntornWord word = UntornWords.word(field);
        if (word != null) take(word, UntornWord.WORD, site, c);
    }

    @ForceInline
    static void touchStatic(int field, int site, UntornThread c) {
        if (UntornMode.SECOND && c.skip) return;
        UntornWord word = UntornWords.word(field);
        if (word != null) record(word, UntornWord.WORD, site, c);
    }

    @ForceInline
    static void unlockStatic(int site, UntornThread c) {
        if (c.held == null || c.silent) return;
        unlock(c.held, site, c);
    }
}
