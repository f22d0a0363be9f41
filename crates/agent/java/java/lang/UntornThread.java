package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The context of one thread: its id, its place in the log, and what it holds.
 * It belongs to the Java thread object, so a virtual thread keeps it on every carrier.
 *
 * Records are 8 bytes, never zero, written with release stores into segments of shared memory; the reader takes them up
 * to the first zero. {@code crates/channel/src/record.rs} and {@code layout.rs} define every number here; a test there
 * compares them with this file.
 */
public final class UntornThread {
    static final Unsafe U = Unsafe.getUnsafe();

    // ---- records --------------------------------------------------------------------------------------------------

    static final long ACCESS = 1L << 63;
    static final int OBJECT_BITS = 38, SITE_BITS = 25, THREAD_BITS = 22, POSITION_BITS = 36, LOCK_BITS = 33;
    static final int OP_SHIFT = 58;
    static final int SITE_MASK = (1 << SITE_BITS) - 1;
    static final int EDGE = 1, ACQUIRE = 2, RELEASE = 3, ACQUIRE_SHARED = 4, RELEASE_SHARED = 5, WAIT = 6, WAKE = 7,
            NOTIFY = 8, SIGNAL = 9, AWAIT = 10, FORK = 11, JOIN = 12, BEGIN = 13, END = 14, ENTER = 15, EXIT = 16,
            ELEMENT = 17, KEY = 18, APPROXIMATE = 19, NEW_LOCK = 20, NEW_CLASS_LOCK = 21, NEW_OBJECT = 22,
            OWNED = 23, IN = 24, FROM = 25, GONE_LOCK = 26, GONE_OBJECT = 27, UNWOUND = 28, INITIALIZER = 29;
    /** Kinds of {@link #UNWOUND}, above the operand: so many regions, or a monitor. */
    static final long UNWOUND_MONITOR = 1L << LOCK_BITS;
    /** Kinds of {@link #INITIALIZER}. */
    static final long INITIALIZER_BEGINS = 1, INITIALIZER_ENDS = 2;
    /** Regions in the records of a first run, from 1; 0 is outside of all. */
    static final int REGION_BITS = 22;

    // ---- shared memory --------------------------------------------------------------------------------------------

    static final long CONTROL_STATE = 64, CONTROL_FREE = 128, CONTROL_NEXT_THREAD = 192, CONTROL_NEXT_OBJECT = 200,
            CONTROL_NEXT_LOCK = 208, CONTROL_NEXT_CLASS = 216, CONTROL_NEXT_KEY = 224, CONTROL_WAITS = 232,
            CONTROL_SEGMENTS_AT = 240, CONTROL_REGIONS = 248, CONTROL_REGION_THREADS = 256, CONTROL_DEMOTED = 264,
            CONTROL_DEMOTIONS = 512;
    /** How many demotions are told; the others are only counted. */
    static final int DEMOTIONS = 448;
    static final int RUNNING = 1;
    static final long DIRECTORY = 4096;
    static final int ENTRY_BYTES = 32, ENTRY_STATE = 0, ENTRY_THREAD = 4, ENTRY_SEQUENCE = 8, ENTRY_NEXT = 16;
    static final int ACTIVE = 1, FULL = 2;
    static final long SEGMENT_BYTES = 8192;
    /** A free-list link that ends the list. */
    static final int NONE = -1;

    /** Room that one event needs at most: prefixes, a few edges, the record. */
    static final int EVENT_RECORDS = 16;
    static final long EVENT_BYTES = EVENT_RECORDS * 8L;
    /** How many edges a thread remembers, a power of two. */
    private static final int EDGES = 16;

    // ---- the process ----------------------------------------------------------------------------------------------

    static final long CONTEXT = U.objectFieldOffset(Thread.class, "$untornContext");
    private static final long POSITION = U.objectFieldOffset(UntornThread.class, "position");
    static final long POLL = U.objectFieldOffset(UntornThread.class, "poll");
    private static final long SHARED_SEEN = U.objectFieldOffset(UntornThread.class, "sharedSeen");
    private static final long SHARES = U.objectFieldOffset(UntornThread.class, "shares");
    private static final long HELD = U.objectFieldOffset(UntornThread.class, "held");

    private static long memory;
    private static long segments;
    /** Where threads write whose records nobody wants: racy garbage by design. */
    private static long waste;

    /** Living contexts by thread id; a dead one's place is null again. Replaced when it grows. */
    private static volatile UntornThread[] contexts = new UntornThread[64];
    private static int highest = -1;
    private static int living;
    /** Guards {@link #contexts}, the chain of exits and the chain of read-shared transitions. */
    private static final long GLOBAL_LOCK = U.allocateMemory(8);
    /** Thread and final position of the thread that exited last, packed as an edge; 0 for none. */
    private static volatile long lastExit;
    /** How many objects became read-shared, and the edge to the last one's transition. */
    private static volatile long sharedCount;
    private static long lastShared;

    /** The options of {@link #boot}. */
    private static final int OPTIMISTIC = 1, ELIDES = 2;
    static final int FIRST = 4, SECOND = 8, UNARY = 16, LONE_LOCKS = 32, STEERED = 64;
    private static final int ALL_OPTIONS = 127;
    private static int options;

    static boolean hasOption(int option) {
        return (options & option) != 0;
    }

    static boolean isOptimistic() {
        return (options & OPTIMISTIC) != 0;
    }

    static boolean elides() {
        return (options & ELIDES) != 0;
    }

    /** The address of the shared memory; pages are aligned, so its low bits are options. */
    static void boot(long addressAndOptions) {
        options = (int) addressAndOptions & ALL_OPTIONS;
        long address = addressAndOptions - options;
        U.putInt(GLOBAL_LOCK, 0);
        // Threads that share a context may each be one event beyond the end of a segment.
        waste = U.allocateMemory(SEGMENT_BYTES + 1024 * EVENT_BYTES);
        segments = address + U.getLong(address + CONTROL_SEGMENTS_AT);
        memory = address;
        U.ensureClassInitialized(UntornStack.class);
        U.ensureClassInitialized(UntornLimits.class);
        U.ensureClassInitialized(UntornMode.class);
        U.ensureClassInitialized(UntornShadow.class);
        U.ensureClassInitialized(UntornOwner.class);
        U.ensureClassInitialized(UntornBadge.class);
        U.ensureClassInitialized(UntornBudget.class);
        U.ensureClassInitialized(UntornRepeats.class);
        U.ensureClassInitialized(UntornSync.class);
        U.ensureClassInitialized(UntornCalls.class);
        U.ensureClassInitialized(UntornPlaces.class);
        U.ensureClassInitialized(UntornTable.class);
        U.ensureClassInitialized(UntornEntry.class);
        U.ensureClassInitialized(UntornLocks.class);
        U.ensureClassInitialized(UntornViews.class);
        U.ensureClassInitialized(UntornReads.class);
        U.ensureClassInitialized(UntornWord.class);
        U.ensureClassInitialized(UntornRef.class);
        U.ensureClassInitialized(UntornKeys.class);
        U.ensureClassInitialized(UntornFields.class);
        U.ensureClassInitialized(UntornStop.class);
        if (UntornMode.STEERED) U.ensureClassInitialized(UntornSteer.class);
    }

    // ---- this thread ----------------------------------------------------------------------------------------------

    final int id;
    /** The id in the place where shadow words hold it. */
    final long owner;
    /** How many records this thread has written; others read it to draw edges. */
    private long position;
    private long cursor;
    /** Where the room for records ends; 0 if something is to be done before the next record, see {@link #moreRoom}. */
    public long limit;
    /** Where it really ends. */
    private long full;
    private long sequence;
    private int segment = NONE;
    /** Dead, or born after recording ended. */
    boolean silent;
    /** The edge that must precede the first record, packed; 0 for none. */
    long firstEdge;

    /**
     * The holder of the shadow word that this thread has locked or is about to lock, and where the word is; null for
     * none; this context itself once it is silent.
     */
    public Object held;
    long offset;
    /** What the word becomes when it is freed; 0 until that is known. */
    long word;
    /** What it was before it was locked, and becomes again if its next state does not get known. */
    long before;
    /**
     * The same, once the access is recorded and the word only waits for this thread's next safe point; 0 else.
     * Who then finds this thread asleep frees the word.
     */
    long settled;
    /** The part of the record that only the locking half knows. */
    long operand;

    /** The newest read-shared transition that is ordered before this thread. */
    long sharedSeen;
    /** Whether something that this thread owned for reading became read-shared. */
    private int shares;
    /** For a first run: the greatest read-shared word that this thread may read without asking, less the least one. */
    public long seen = Long.MIN_VALUE;
    private long nextObject, lastObject;
    /** The locks used last, most often used next. */
    UntornEntry recent, earlier;
    /** One more than the site of a call that may start or join a thread; 0 for none. */
    int callSite;
    /** The lock of an open wait, how often it was held, and where the wait stands. */
    UntornEntry waitsOn;
    int waitDepth, waitSite;
    /** One more than the site of the watched call that is about to use a lock of the platform; 0 for none. */
    int lockSite;
    final UntornReads reads = new UntornReads();
    /** Recently written edges, by thread: a position at or before one of them needs no edge. */
    private final long[] edges = new long[EDGES];

    /**
     * Which accesses stand for later ones, see {@link UntornRepeats}, whose table this is: another one after every edge and
     * every record of a lock, and in every region. A region's is the same again after one within it in which there was
     * neither. None is ever used again by another region.
     */
    long epoch;
    private long lastEpoch;
    long[] repeats;
    /** How many records were neither of accesses nor of regions; for each of {@link #regions}, that and the epoch before it. */
    private int barriers;
    private final int[] barriersBefore = new int[REGIONS];
    private final long[] epochBefore = new long[REGIONS];
    /** Odd and without a pattern, so that epochs differ from each other in ways in which no records do. */
    private static final long EPOCH = 0x9e3779b97f4a7c15L;

    /** Objects that this thread got and that were not recorded before, since it last said so. */
    int handedOver;

    /** Objects that this thread gave an id: how many, how many since it last looked which are gone, and when that was. */
    UntornRef objects;
    int objectCount, objectsAdded, objectsSeen;

    // ---- steering: see UntornSteer ----------------------------------------------------------------------------------

    /** The plan about a region that is open, and how many regions and monitors were open before it; null for none. */
    UntornPlan steeredBy;
    int steeredFrom;
    long steeredMonitors;
    /** How many outermost regions this thread has begun. */
    volatile int outermost;
    /** What the region has accessed: objects, and where in them with whether it writes in the lowest bit; how often. */
    Object[] touched;
    int[] touchedAt;
    int touches;
    /** Which of the plan's points this execution pauses at; whether it has passed it, and has paused; how often it had to go on. */
    int point, retries;
    boolean isPending, hasPaused;
    /** The lock that a partner needed. */
    Object neededLock;
    /** Whether this thread sleeps for a plan. */
    volatile boolean isHeldUp;

    // ---- regions --------------------------------------------------------------------------------------------------

    /** Nothing is a region in this thread. */
    private boolean plain;
    /**
     * How much this thread has open: regions in the lower half, monitors that its frames hold in the upper one. Each frame
     * keeps what it found ({@code mark}), so that it knows at its exits what it has opened itself.
     */
    public long open;
    /** One monitor in {@link #open}. */
    static final long MONITOR = 1L << 32;
    /**
     * What was open before the outermost frame that could not say that it is left; {@link #NOTHING_LOST} if all could.
     * Such a frame has no stack for a call. It stores this, and sees by {@link #limit} and {@link #poll} that the thread
     * comes by {@link #unwind} before it writes another record or opens anything.
     */
    public long lost = NOTHING_LOST;
    private static final long NOTHING_LOST = -1;
    /** For each monitor in {@link #open}, the record of its release; 0 if it has no entry. */
    long[] monitors = new long[8];
    /** The first of the open regions as the rewriter names them, outermost first. */
    private final int[] regions = new int[REGIONS];
    private static final int REGIONS = 128;
    /**
     * How many of the open regions have their beginning in the log. The others are open for this thread alone: their
     * beginnings are written right before the next record, and a region in which there is none leaves no trace. Most
     * executions of methods are such ones, and no analysis can tell where before its first event a region began.
     */
    private int written;
    /** How many regions were open when the outermost running class initializer began in one; stale once there are fewer. */
    private int initializing;
    /** In a second run: whether what happens now is left out. */
    boolean skip;
    /** The first of the open regions that {@link #part} has ended; -1 for none. */
    private int parted = -1;
    /** Whether this thread has entered any region. */
    private boolean enters;
    /** By number: {@link #ENTERED}, {@link #DEMOTED} or neither. Replaced when it grows; a thread that comes too early counts nothing twice. */
    private static byte[] regionStates = new byte[1024];
    /** A region was entered before; it opens none from now on. */
    private static final byte ENTERED = 1, DEMOTED = 2;
    /**
     * For how long a region that nobody but a rule of thumb proposes may be open: as many records of its thread, or in a first
     * run regions in it; one that says that it depends on another thread counts as {@link #DEPENDENCE} of them.
     */
    private static final int LONG = 4096, DEPENDENCE = 32;
    /** When each of {@link #regions} began, as {@link #time} tells it. */
    private final int[] begun = new int[REGIONS];
    /** What {@link #time} adds to the records of this thread. */
    private int delays;
    /** Whether a region may have been open for long; looked at by {@link #retire} where the thread is at a safe point. */
    boolean overdue;
    /** Where the log stood when this thread was last told to wait. */
    private long waitsAt = Long.MIN_VALUE / 2;
    /** How many records may lie between that and the waiting itself: a signal, and edges. */
    private static final int SOON = 4;
    /** In a first run: the latest transactions by number, each with its region; their numbers take the place of positions. */
    private long[] transactions;
    /** In a first run: the transaction that the log names last. */
    private long noted;
    private static final int TRANSACTIONS = 16;
    /**
     * In a first run: how many dependences have entered this thread, and the regions told of since the last one. A
     * dependence that leaves the thread may name a later transaction than the one that it comes from; as each region is
     * told of once after it was entered, the true one is among those that the reader knows.
     */
    private long entered;
    private long[] told;
    private static final int TOLD = 64;

    /** A region begins, in a run that records regions. Calls, so that sites stay small. */
    @DontInline
    void begin(int region) {
        if (UntornMode.STEERED) region = UntornSteer.begins(region, this);
        if (plain || !UntornRuntime.on || !enters(region)) return;
        if (UntornMode.SECOND) {
            if ((int) open == 0) skip = (region & UntornMode.CHOSEN) == 0;
            if (skip) {
                opens(region);
                return;
            }
        }
        int at = (int) open;
        if (at < REGIONS) {
            regions[at] = region;
            begun[at] = (int) position + delays;
            epochBefore[at] = epoch;
            barriersBefore[at] = barriers;
            open++;
            // Accesses before do not stand for those within.
            epoch = lastEpoch += EPOCH;
            limit = 0;
            return;
        }
        // Nobody remembers its number.
        log(BEGIN, region & UntornMode.NUMBER);
        // No call between: a region counts if and only if its record is written.
        open++;
        written = (int) open;
    }

    /** Writes the beginnings of open regions that have none in the log yet; there is room for them. */
    private void writeBeginnings() {
        while (written < (int) open) {
            long at = cursor;
            U.putLongRelease(null, at, (long) BEGIN << OP_SHIFT | regions[written] & UntornMode.NUMBER);
            // Plain stores, as in writePart: no call can fail between them.
            cursor = at + 8;
            position++;
            waitsAt++;
            written++;
        }
        limit = full;
    }

    /** Lets the next record through, or first by {@link #moreRoom} if beginnings of regions have to come before it. */
    private void setLimit() {
        limit = lost != NOTHING_LOST || written < (int) open && parted < 0 ? 0 : full;
    }

    /** A region that leaves no record is open from here on; whether it is the outermost one. */
    boolean opens(int region) {
        int at = (int) open;
        if (at < REGIONS) {
            regions[at] = region;
            begun[at] = delays;
        }
        open++;
        written = (int) open;
        if (UntornMode.FIRST && at != 0 && (++delays & 1023) == 0) watchAge();
        return at == 0;
    }

    /** Whether a region is to be opened; counts what is entered, for the last line of the run. */
    @ForceInline
    boolean enters(int region) {
        int number = region & UntornMode.NUMBER;
        byte[] states = regionStates;
        byte state = number < states.length ? states[number] : 0;
        if (state == DEMOTED) return false;
        if (state == 0 || !enters) count(number);
        return true;
    }

    /** This thread enters its first region, or a region for the first time. */
    @DontInline
    private void count(int number) {
        probe();
        if (!enters) {
            enters = true;
            U.getAndAddLong(null, memory + CONTROL_REGION_THREADS, 1);
        }
        globalLock();
        try {
            if (number >= regionStates.length) {
                byte[] grown = new byte[Math.max(number + 1, regionStates.length * 2)];
                System.arraycopy(regionStates, 0, grown, 0, regionStates.length);
                regionStates = grown;
            }
            if (regionStates[number] == 0) {
                regionStates[number] = ENTERED;
                U.getAndAddLong(null, memory + CONTROL_REGIONS, 1);
            }
        } catch (OutOfMemoryError none) {
            // The count is too small by this one.
        } finally {
            globalUnlock();
        }
    }

    // ---- regions that were not meant to be one step ---------------------------------------------------------------

    /** How much this thread has done, in the measure of {@link #LONG}; only differences mean something. */
    private int time() {
        return UntornMode.FIRST ? delays : (int) position + delays;
    }

    /** Comes back to the open regions at the next safe point if the outermost one has been open for long. */
    private void watchAge() {
        if ((int) open == 0 || UntornMode.SECOND || time() - begun[0] < LONG) return;
        overdue = true;
        poll = 1;
    }

    /**
     * Demotes the open regions that have been open for long, unless somebody said that they are meant to be one step: from now
     * on none of their executions is a region. Those that are open end here, for whoever reads the log; if a younger one is
     * open within, when that has ended, so that it stays whole. Frames notice at their exits that theirs is not open any more.
     */
    @DontInline
    void retire() {
        overdue = false;
        if (lost != NOTHING_LOST) unwind();
        int depth = (int) open;
        if (plain || !UntornRuntime.on || UntornMode.SECOND || depth == 0 || depth > REGIONS || parted >= 0) return;
        // What an initializer does is no part of the region around it.
        if (isInitializing()) return;
        probe();
        int now = time();
        int old = 0;
        while (old < depth && now - begun[old] >= LONG) {
            if ((regions[old] & UntornMode.GUESS) != 0) demote(regions[old] & UntornMode.NUMBER, now - begun[old]);
            old++;
        }
        if (old < depth) {
            overdue = old > 0;
            return;
        }
        while ((int) open > 0 && (regions[(int) open - 1] & UntornMode.GUESS) != 0) {
            if (!UntornMode.FIRST && written == (int) open) log(END, regions[(int) open - 1] & UntornMode.NUMBER);
            open--;
            written = Math.min(written, (int) open);
        }
        if (UntornMode.FIRST && (int) open == 0) turn(0);
    }

    /** No execution of a region is one from now on; the reader is told, and for how long it was open. */
    private static void demote(int number, int age) {
        globalLock();
        try {
            if (regionStates[number] == DEMOTED) return;
            regionStates[number] = DEMOTED;
            long at = U.getLong(memory + CONTROL_DEMOTED);
            if (at < DEMOTIONS) U.putLong(memory + CONTROL_DEMOTIONS + at * 8, (long) age << 32 | number);
            U.putLongRelease(null, memory + CONTROL_DEMOTED, at + 1);
        } finally {
            globalUnlock();
        }
    }

    /** A region ends that began when so much was open. */
    @DontInline
    void end(int region, long mark) {
        if (plain || !UntornRuntime.on) return;
        if (UntornMode.STEERED) region &= ~UntornSteer.REGION;
        // What frames within left without a call is not this one's.
        if (lost != NOTHING_LOST) unwind();
        // One that was demoted opened nothing, or has ended.
        if ((int) open == (int) mark) return;
        if ((int) open - (int) mark != 1 && !straightenRegions((int) mark + 1)) return;
        if (UntornMode.SECOND) {
            if (skip) {
                open--;
                written = (int) open;
                if ((int) open == 0) skip = !UntornMode.UNARY;
                return;
            }
        }
        if (written < (int) open) {
            // It left nothing in the log.
            open--;
            setLimit();
        } else {
            room();
            writePart((long) END << OP_SHIFT | region & UntornMode.NUMBER);
            open--;
            written = (int) open;
        }
        int at = (int) open;
        // What the thread recorded in the region around it still stands for what comes there.
        epoch = at < REGIONS && barriersBefore[at] == barriers ? epochBefore[at] : (lastEpoch += EPOCH);
        if (UntornMode.STEERED) UntornSteer.ended(this);
        if (UntornMode.SECOND && (int) open == 0) skip = !UntornMode.UNARY;
        if (overdue) retire();
    }

    /**
     * This thread leaves a region, the one with that number among the open ones, and another one seems to be innermost:
     * ends what lies deeper. False if the region is not open: it did not begin, or is left a second time.
     */
    @DontInline
    boolean straightenRegions(int number) {
        unwind();
        if ((int) open > number) unwind((open & -MONITOR) + number);
        return (int) open == number;
    }

    /** The same for a monitor. */
    @DontInline
    boolean straightenMonitors(long number) {
        unwind();
        if (open >> 32 > number) unwind(number * MONITOR + (int) open);
        return open >> 32 == number;
    }

    /** Ends what frames have left without a call. */
    @DontInline
    void unwind() {
        long to = lost;
        if (to == NOTHING_LOST) return;
        probe();
        // It is 0 so that nothing is written before.
        limit = full;
        lost = NOTHING_LOST;
        try {
            unwind(to);
        } catch (Throwable noStack) {
            // A new segment asks for more stack than was asked for here.
            lost = to;
            limit = 0;
            poll = 1;
            throw noStack;
        }
        setLimit();
    }

    /**
     * Ends what is open beyond that. Monitors come first, though regions may lie between them: what only gives up monitors
     * and then ends is torn by nobody.
     */
    private void unwind(long to) {
        while (open >> 32 > to >> 32) {
            long release = monitors[(int) (open >> 32) - 1];
            if (release == 0) {
                open -= MONITOR;
            } else {
                UntornSync.lost(release, this);
            }
        }
        if ((int) open <= (int) to) return;
        // A wait that was left without a word.
        rejoin();
        // Those without a beginning need no end.
        open -= Math.max(0, (int) open - Math.max(written, (int) to));
        int ended = (int) open - (int) to;
        if (ended > 0 && !UntornMode.FIRST && !(UntornMode.SECOND && skip)) log(UNWOUND, ended);
        open -= ended;
        written = Math.min(written, (int) open);
        if ((int) open != 0) return;
        if (UntornMode.FIRST) turn(0);
        if (UntornMode.SECOND) skip = !UntornMode.UNARY;
    }

    /** Whether there is room for one more monitor in {@link #monitors}. */
    boolean hasPlace() {
        return open >> 32 < monitors.length || deeper();
    }

    @DontInline
    private boolean deeper() {
        try {
            long[] more = new long[monitors.length * 2];
            System.arraycopy(monitors, 0, more, 0, monitors.length);
            monitors = more;
            return true;
        } catch (OutOfMemoryError none) {
            return false;
        }
    }

    /**
     * A class initializer begins: what it does is no part of the region in which it happens to run, nor is what
     * initializers within it do. Returns whether it is the outermost one in a region.
     */
    @DontInline
    boolean initializes() {
        if (UntornMode.FIRST || (int) open == 0 || UntornMode.SECOND && skip || isInitializing()) return false;
        log(INITIALIZER, INITIALIZER_BEGINS);
        initializing = (int) open;
        return true;
    }

    /** It ends, in whatever way. */
    void initialized() {
        initializing = 0;
        log(INITIALIZER, INITIALIZER_ENDS);
    }

    private boolean isInitializing() {
        return initializing != 0 && (int) open >= initializing;
    }

    /** This thread is about to wait, or spins. */
    @DontInline
    void waits() {
        split();
        waitsAt = position;
    }

    /** This thread has waited, if it was told to a moment ago; nothing is logged of that yet. */
    void waited() {
        // A first run has no positions, and may take more to be one step than there is.
        if (!UntornMode.FIRST && position - waitsAt <= SOON) split();
    }

    /** Ends the open regions and begins them anew. */
    void split() {
        part();
        rejoin();
    }

    /**
     * Ends the open regions, but for those that are meant to be one step nevertheless and what is around them; if there are
     * more than are known by name, none. Until {@link #rejoin} nothing else begins or ends.
     */
    @DontInline
    void part() {
        parted = -1;
        int depth = (int) open;
        if (plain || !UntornRuntime.on || depth == 0 || depth > REGIONS || UntornMode.SECOND && skip) return;
        // What an initializer does is no part of the region around it.
        if (isInitializing()) return;
        probe();
        int first = depth;
        while (first > 0 && (regions[first - 1] & UntornMode.WHOLE) == 0) first--;
        parted = first;
        if (UntornMode.FIRST) {
            if (first == 0) turn(0);
            return;
        }
        while (written > first) {
            log(END, regions[written - 1] & UntornMode.NUMBER);
            written--;
        }
    }

    /** Begins anew what {@link #part} has ended. */
    @DontInline
    void rejoin() {
        int first = parted;
        parted = -1;
        if (first < 0) return;
        if (UntornMode.FIRST) {
            if (first == 0) turn((regions[0] & UntornMode.NUMBER) + 1);
            return;
        }
        setLimit();
    }

    /** In a first run: an outermost region begins or, with 0, ends. */
    @DontInline
    void turn(int region) {
        if (!plain && transactions != null) turnTo(region);
    }

    /** In a first run: the next transaction begins. */
    private void turnTo(int region) {
        long next = position + 1;
        transactions[(int) next & TRANSACTIONS - 1] = next << REGION_BITS | region;
        // Last: who sees the number sees the region.
        U.putLongRelease(this, POSITION, next);
        if ((next & 0xfff) == 0 && next > UntornLimits.POSITIONS) endHere();
        if (entered != 0 && told[region & TOLD - 1] != (entered << REGION_BITS | region)) tell(region);
    }

    /** A first run, in which threads seldom ask for segments, has no numbers for transactions any more. */
    @DontInline
    private void endHere() {
        if (!UntornRuntime.on) return;
        probe();
        UntornLimits.reached(UntornLimits.OF_POSITIONS);
        UntornLimits.end();
    }

    @DontInline
    private void tell(int region) {
        if (full - cursor < EVENT_BYTES) nextSegment();
        told[region & TOLD - 1] = entered << REGION_BITS | region;
        note();
    }

    // ---- ownership: see UntornBadge, which alone writes what other threads write here -----------------------------

    /** The word of an object that this thread alone has touched: its badge; {@link UntornBadge#NONE} if it has none. */
    public long mine = UntornBadge.NONE;
    /** What the word of a new object is. */
    public long born;
    /** Whether somebody wants this thread to pass a safe point. Volatile, as instrumented loops read it. */
    public volatile int poll;
    /** What is to be thrown at the next safe point in the program's own code; null for nothing. */
    volatile Throwable death;
    /** What inserted code could not let through to the program, stored together with {@link #poll}; null for nothing. */
    public Throwable dropped;
    /** Held by who meets this thread. */
    int gate;
    /** Whether the newest request is open, its number, and the number of the last one that was met by looking. */
    int ask, turn, looked;
    /** Whether this thread sleeps; see {@link UntornBadge#sleeps}. */
    int sleep;
    /** Whose context this is; null once it has ended. */
    Thread thread;

    private UntornThread(int id) {
        this.id = id;
        this.owner = (long) id << OBJECT_BITS;
    }

    /** A safe point: no access is under way, and what was known of words and badges is looked up again. */
    @ForceInline
    void poll() {
        if (U.getIntOpaque(this, POLL) != 0) UntornBadge.answer(this);
    }

    /** Whether that is what {@code Thread.stop} throws: this thread dies of it at its next safe point in the program's own code. */
    boolean dies(Throwable what) {
        if (!what.getClass().getName().equals("java.lang.ThreadDeath")) return false;
        UntornStop.sentence(this, what);
        return true;
    }

    // ---- making and finding contexts ------------------------------------------------------------------------------

    @ForceInline
    static UntornThread current() {
        Object context = U.getReference(Thread.currentThread(), CONTEXT);
        return context != null ? (UntornThread) context : attach(Thread.currentThread(), 0);
    }

    static UntornThread of(Thread thread) {
        return (UntornThread) U.getReferenceAcquire(thread, CONTEXT);
    }

    /** Gives a thread its context; of two threads that try, one wins. */
    @DontInline
    static UntornThread attach(Thread thread, long firstEdge) {
        probe();
        try {
            return make(thread, firstEdge);
        } catch (OutOfMemoryError noMemory) {
            return NOBODY;
        }
    }

    /** For a thread while there is no memory for its own context. */
    private static final UntornThread NOBODY = new UntornThread((1 << THREAD_BITS) - 1);

    static {
        NOBODY.silence();
        NOBODY.plain = true;
    }

    private static UntornThread make(Thread thread, long firstEdge) {
        if (!UntornRuntime.on) return mute(thread);
        long number = U.getAndAddLong(null, memory + CONTROL_NEXT_THREAD, 1);
        if (number >= UntornLimits.THREADS) {
            UntornLimits.reached(UntornLimits.OF_THREADS);
            return mute(thread);
        }
        UntornThread made = new UntornThread((int) number);
        made.firstEdge = firstEdge;
        made.thread = thread;
        made.skip = UntornMode.SECOND && !UntornMode.UNARY;
        if (UntornMode.FIRST) {
            made.transactions = new long[TRANSACTIONS];
            made.told = new long[TOLD];
            made.turnTo(0);
        }
        UntornBadge.first(made);
        register(made);
        if (!U.compareAndSetReference(thread, CONTEXT, null, made)) {
            // Its number stays unused; numbers are plenty, and two threads rarely race to create one context.
            forget(made);
            return (UntornThread) U.getReferenceAcquire(thread, CONTEXT);
        }
        made.plain = UntornRuntime.nameThread(made.id, thread.getName());
        return made;
    }

    /** A context that writes nothing, for a thread that nobody can hear; each thread has its own. */
    private static UntornThread mute(Thread thread) {
        UntornThread context = new UntornThread((1 << THREAD_BITS) - 1);
        context.silence();
        // While the VM starts the thread may be heard later, so the context is not kept.
        if (memory != 0) U.compareAndSetReference(thread, CONTEXT, null, context);
        return context;
    }

    /** From now on nothing this thread does is recorded. */
    private void silence() {
        silent = true;
        // Makes the slow path of every access see it, without a check on the fast one.
        held = this;
    }

    private static void register(UntornThread context) {
        globalLock();
        try {
            UntornThread[] all = contexts;
            if (context.id >= all.length) {
                UntornThread[] grown = new UntornThread[Math.max(context.id + 1, all.length * 2)];
                System.arraycopy(all, 0, grown, 0, highest + 1);
                all = grown;
            }
            all[context.id] = context;
            living++;
            if (context.id > highest) highest = context.id;
            // A volatile store, so that who reads the array next sees the context too.
            contexts = all;
        } finally {
            globalUnlock();
        }
    }

    private static void forget(UntornThread context) {
        globalLock();
        try {
            contexts[context.id] = null;
            living--;
        } finally {
            globalUnlock();
        }
    }

    /** How many threads live, about. */
    static int count() {
        return living;
    }

    /** Whether this thread may read what is read-shared, now that words were locked; if not, it looks at the word again first. */
    boolean readsShared() {
        return U.getLongVolatile(this, SHARED_SEEN) != 0 || U.getIntVolatile(this, SHARES) != 0;
    }

    /** Another thread is about to make something read-shared that this one may be reading as its own just now. */
    void shares() {
        U.putIntVolatile(this, SHARES, 1);
    }

    /** All contexts by thread id, with gaps. */
    static UntornThread[] all() {
        return contexts;
    }

    /** The context of a living thread by id, or null. */
    static UntornThread byId(int id) {
        UntornThread[] all = contexts;
        return id < all.length ? all[id] : null;
    }

    // ---- writing records ------------------------------------------------------------------------------------------

    /** An event without a lock of its own. */
    @ForceInline
    void log(int op, long payload) {
        room();
        write((long) op << OP_SHIFT | payload);
    }

    /** Makes room for one event; waits for the reader if it must, so never call it with a shadow word locked. */
    @ForceInline
    void room() {
        if (cursor + EVENT_BYTES > limit) moreRoom();
    }

    @DontInline
    private void moreRoom() {
        if (lost != NOTHING_LOST) {
            unwind();
        }
        if (cursor + EVENT_BYTES + 8L * Math.max(0, (int) open - written) > full) {
            nextSegment();
            watchAge();
            if (repeats == null && !UntornMode.FIRST && UntornShadow.ELIDES) UntornRepeats.make(this);
            tellHandedOver();
            if (objectsAdded >= UntornRef.LEAST) UntornRef.look(this);
        }
        if (written < (int) open && parted < 0) writeBeginnings();
    }

    private void tellHandedOver() {
        if (handedOver != 0) UntornRuntime.handedOver(handedOver);
        handedOver = 0;
    }

    @ForceInline
    void write(long record) {
        // Whatever is no access; those have the highest bit.
        if (record >= 0) newEpoch();
        writePart(record);
    }

    /** What was recorded before stands for nothing that comes. */
    private void newEpoch() {
        barriers++;
        epoch = lastEpoch += EPOCH;
    }

    /** Writes an access, what belongs to the access that follows, or the end of a region. */
    @ForceInline
    void writePart(long record) {
        if (UntornMode.FIRST) return;
        long at = cursor;
        U.putLongRelease(null, at, record);
        // Plain stores, since a call could run out of stack between them; what publishes them is the next release store.
        cursor = at + 8;
        position++;
    }

    long position() {
        return U.getLongAcquire(this, POSITION);
    }

    /** Where this thread stands, packed as an edge. */
    @ForceInline
    long here() {
        return (long) id << POSITION_BITS | position;
    }

    /** Where that thread stands, for another thread. */
    long past() {
        return (long) id << POSITION_BITS | position();
    }

    /** A point after all that threads which have ended wrote, packed as an edge. */
    static long exits() {
        U.loadFence();
        return lastExit;
    }

    @DontInline
    private void nextSegment() {
        probe();
        if (position > UntornLimits.POSITIONS) UntornLimits.reached(UntornLimits.OF_POSITIONS);
        if (UntornLimits.areReached() && UntornRuntime.on) UntornLimits.end();
        int fresh = silent || !UntornRuntime.on ? NONE : take();
        if (segment != NONE) {
            U.putIntRelease(null, entry(segment) + ENTRY_STATE, FULL);
            segment = NONE;
        }
        if (fresh == NONE) {
            cursor = waste;
            full = waste + SEGMENT_BYTES;
            setLimit();
            return;
        }
        long entry = entry(fresh);
        U.putInt(entry + ENTRY_THREAD, id);
        U.putLong(entry + ENTRY_SEQUENCE, sequence++);
        U.putIntRelease(null, entry + ENTRY_STATE, ACTIVE);
        segment = fresh;
        cursor = segments + fresh * SEGMENT_BYTES;
        full = cursor + SEGMENT_BYTES;
        setLimit();
        if (firstEdge != 0) {
            long edge = firstEdge;
            firstEdge = 0;
            if (UntornMode.FIRST) {
                // It leads to the transaction in which the thread began, whatever it did since.
                emit((long) IN << OP_SHIFT | 1L << REGION_BITS);
                noted = 1;
                source(edge);
            } else {
                write((long) EDGE << OP_SHIFT | edge);
            }
        }
    }

    /** A free segment, waiting for one if it must; {@link #NONE} once recording has stopped. */
    private static int take() {
        long head = memory + CONTROL_FREE;
        for (int tries = 0; ; ) {
            if (U.getIntVolatile(null, memory + CONTROL_STATE) != RUNNING) {
                UntornRuntime.stop();
                return NONE;
            }
            long top = U.getLongVolatile(null, head);
            int index = (int) top;
            if (index != NONE) {
                // The high half counts pops and pushes, so a stale link never gets in.
                int next = U.getInt(entry(index) + ENTRY_NEXT);
                long rest = (top >>> 32) + 1 << 32 | next & 0xffffffffL;
                if (U.compareAndSetLong(null, head, top, rest)) return index;
                continue;
            }
            if (tries++ == 0) U.getAndAddLong(null, memory + CONTROL_WAITS, 1);
            // The reader is behind: it helps nobody to look again and again.
            UntornBadge.nap(Math.min(NAP * tries, LONG_NAP), true);
        }
    }

    private static long entry(int segment) {
        return memory + DIRECTORY + (long) segment * ENTRY_BYTES;
    }

    /** Microseconds that a thread sleeps which waits for another one. */
    static final int NAP = 50;
    /** The longest, for one that waits for the reader, which is in no hurry. */
    private static final int LONG_NAP = 2000;

    /** Waits a little: spinning at first, then sleeping. */
    static void pause(int tries) {
        if (tries < 100) {
            Thread.onSpinWait();
        } else {
            UntornBadge.nap(NAP);
        }
    }

    // ---- edges ----------------------------------------------------------------------------------------------------

    /** Everything up to that point (packed) precedes what this thread writes next. Room for it is there. */
    void edge(long from) {
        if (!needed(from)) {
            // What comes next may depend on more of that thread than what was recorded since the edge that stands for this one.
            if (from != 0 && from >>> POSITION_BITS != id) newEpoch();
            return;
        }
        if (UntornMode.FIRST) {
            depend(from);
        } else {
            write((long) EDGE << OP_SHIFT | from);
        }
        // Only noted: a word may be about to be tested, so this is no place for a call.
        delays += DEPENDENCE;
        edges[slot(from)] = from;
    }

    /**
     * In a first run: the current transaction may depend on that one. Outside of regions a new one begins here, so that
     * what left the last one before is not taken for something that depends on what comes now.
     */
    @DontInline
    private void depend(long from) {
        if (full - cursor < EVENT_BYTES) nextSegment();
        entered++;
        watchAge();
        if ((int) open == 0 || plain) turnTo(0);
        note();
        int region = (int) (transactions[(int) position & TRANSACTIONS - 1] & (1 << REGION_BITS) - 1);
        told[region & TOLD - 1] = entered << REGION_BITS | region;
        source(from);
    }

    /** Tells the reader the current transaction. */
    private void note() {
        if (noted == position) return;
        noted = position;
        emit((long) IN << OP_SHIFT | transactions[(int) position & TRANSACTIONS - 1]);
    }

    /** Where a dependence comes from; one that its thread no longer remembers, from a later one of that thread. */
    private void source(long from) {
        int thread = (int) (from >>> POSITION_BITS);
        long number = from & (1L << POSITION_BITS) - 1;
        UntornThread other = byId(thread);
        if (other == null || other.transactions == null) {
            // It has ended: the last end is after its own, and threads tell their last transaction themselves.
            long exit = lastExit;
            if (exit != 0) emit((long) EDGE << OP_SHIFT | exit);
            return;
        }
        long known;
        for (;;) {
            known = other.transactions[(int) number & TRANSACTIONS - 1];
            if (known >>> REGION_BITS == number) break;
            number = other.position();
            U.loadFence();
        }
        emit((long) EDGE << OP_SHIFT | (long) thread << POSITION_BITS | number);
        emit((long) FROM << OP_SHIFT | known);
    }

    /** Writes a record of a first run, which does not count. */
    private void emit(long record) {
        U.putLongRelease(null, cursor, record);
        cursor += 8;
    }

    /** As {@link #edge}, making room. */
    private void edgeWithRoom(long from) {
        if (cursor >= full) nextSegment();
        edge(from);
    }

    private static int slot(long from) {
        return (int) (from >>> POSITION_BITS) & EDGES - 1;
    }

    /** Whether no edge written before stands for this one. */
    private boolean needed(long from) {
        long seen = edges[slot(from)];
        long thread = from >>> POSITION_BITS;
        return from != 0 && thread != id && (seen >>> POSITION_BITS != thread || seen < from);
    }

    /** An edge from all that thread has written so far. */
    void edgeFrom(int thread) {
        UntornThread other = byId(thread);
        U.loadFence();
        // A dead thread's exit precedes the last exit.
        edge(other != null ? (long) thread << POSITION_BITS | other.position() : lastExit);
    }

    /** Edges from everything written so far by anybody. A lock may be held meanwhile: the reader never waits for it. */
    void edgesFromAll() {
        probe();
        UntornThread[] all = contexts;
        edgeWithRoom(lastExit);
        int last = Math.min(highest, all.length - 1);
        for (int i = 0; i <= last; i++) {
            UntornThread other = all[i];
            if (other == null || other == this) continue;
            long position = other.position();
            if (position == 0) continue;
            edgeWithRoom((long) i << POSITION_BITS | position);
        }
        // A thread that exited while we looked is behind the exit that we read now.
        edgeWithRoom(lastExit);
        if (full - cursor < EVENT_BYTES) nextSegment();
    }

    /** Tells the reader of things that are gone, after {@link #edgesFromAll}. */
    void gone(int op, long id) {
        if (full - cursor < EVENT_BYTES) nextSegment();
        write((long) op << OP_SHIFT | id);
    }

    // ---- read-shared objects --------------------------------------------------------------------------------------

    /**
     * An object becomes read-shared: orders this transition after all earlier ones and returns its number.
     * A reader that has seen transition n is thereby after all up to n.
     */
    long share() {
        probe();
        long number;
        globalLock();
        try {
            edge(lastShared);
            number = sharedCount + 1;
            // The edges that order the transition are written; the read itself needs no order.
            lastShared = here();
            sharedCount = number;
        } finally {
            globalUnlock();
        }
        see(number);
        return number;
    }

    /**
     * The same for a word that another thread owns for reading: changes it, unless it is another one by now.
     * All under the lock, which every such change takes: the owner lives on, so a word that was read-shared, written
     * to and given back to it looks the same, and an edge that was drawn before would be too old.
     */
    boolean share(Object holder, long offset, long word, UntornThread owner) {
        probe();
        globalLock();
        try {
            if (U.getLongVolatile(holder, offset) != word) return false;
            edge(owner.past());
            edge(lastShared);
            long number = sharedCount + 1;
            lastShared = here();
            sharedCount = number;
            see(number);
            owner.shares();
            long known = Math.min(number, UntornShadow.UNKNOWN_TRANSITION);
            long shared = UntornShadow.RD_SH | known << OBJECT_BITS | word & UntornShadow.OBJECT;
            return U.compareAndSetLong(holder, offset, word, shared);
        } finally {
            globalUnlock();
        }
    }

    /** This thread reads an object that became read-shared with that number, or with one that no longer fits its word. */
    @ForceInline
    void fence(long number, long unknown) {
        if (sharedSeen < number || number == unknown) catchUp(number, unknown);
    }

    /** Whether {@link #fence} has nothing to do. */
    @ForceInline
    boolean fenced(long number, long unknown) {
        return number <= sharedSeen && number != unknown || number == unknown && sharedSeen >= sharedCount;
    }

    @DontInline
    private void catchUp(long number, long unknown) {
        if (number == unknown && sharedSeen >= sharedCount) return;
        probe();
        globalLock();
        long seen = sharedCount, from = lastShared;
        globalUnlock();
        edge(from);
        see(seen);
    }

    /**
     * At a safe point: from here on this thread looks at the newest transition before it reads anything read-shared. Under
     * the lock, since who makes something read-shared that this thread owned says so first and changes the word then: taken
     * back in between, that would be lost.
     */
    void forgetShared() {
        globalLock();
        shares = 0;
        sharedSeen = 0;
        seen = Long.MIN_VALUE;
        globalUnlock();
    }

    private void see(long number) {
        sharedSeen = number;
        long known = Math.min(number, UntornShadow.UNKNOWN_TRANSITION - 1);
        this.seen = Long.MIN_VALUE + (known << OBJECT_BITS | UntornShadow.OBJECT);
        // Before this thread looks at a word again: who locks one either sees this, or is seen by this thread.
        U.fullFence();
    }

    // ---- calls that are intervals ---------------------------------------------------------------------------------

    /** What a call that only reads and holds nothing is on, and how that looked when it began; null for none. */
    UntornEntry repeated;
    long repeatedWord, repeatedCalls;

    private UntornEntry[] calls;
    private long[] callsBegun;
    private int[] callSizes;
    private int callDepth;

    /** Enters a call, which {@link #callSize} can be told of; without memory for it the call goes unrecorded. */
    boolean pushCall(UntornEntry entry) {
        try {
            if (calls == null) {
                callsBegun = new long[8];
                callSizes = new int[8];
                calls = new UntornEntry[8];
            } else if (callDepth == calls.length) {
                UntornEntry[] deeper = new UntornEntry[callDepth * 2];
                long[] deeperBegun = new long[callDepth * 2];
                int[] deeperSizes = new int[callDepth * 2];
                System.arraycopy(calls, 0, deeper, 0, callDepth);
                System.arraycopy(callsBegun, 0, deeperBegun, 0, callDepth);
                System.arraycopy(callSizes, 0, deeperSizes, 0, callDepth);
                calls = deeper;
                callsBegun = deeperBegun;
                callSizes = deeperSizes;
            }
        } catch (VirtualMachineError noMemory) {
            return false;
        }
        callsBegun[callDepth] = entry.beginCall();
        calls[callDepth++] = entry;
        return true;
    }

    /** What the innermost call's collection had in it when the call began; -1 if that is not known. */
    void setCallSize(int size) {
        callSizes[callDepth - 1] = size;
    }

    int callSize(int call) {
        return callSizes[call];
    }

    /** The innermost running call; there is one. */
    UntornEntry topCall() {
        return calls[callDepth - 1];
    }

    /** The innermost call on an object that is running; -1 for none. */
    int call(Object receiver) {
        int i = callDepth - 1;
        while (i >= 0 && !calls[i].refersTo(receiver)) i--;
        return i;
    }

    UntornEntry callEntry(int call) {
        return calls[call];
    }

    long callBegun(int call) {
        return callsBegun[call];
    }

    long popCall() {
        calls[--callDepth] = null;
        return callsBegun[callDepth];
    }

    // ---- chance ---------------------------------------------------------------------------------------------------

    private int random = 1;

    /** True once in so many times, a power of two. */
    boolean chance(int times) {
        int x = random;
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        random = x;
        return (x & times - 1) == 0;
    }

    // ---- ids ------------------------------------------------------------------------------------------------------

    /** A new object id, or 0 when there are none left. */
    long newObject() {
        if (nextObject == lastObject) {
            nextObject = U.getAndAddLong(null, memory + CONTROL_NEXT_OBJECT, 4096);
            lastObject = nextObject + 4096;
            if (lastObject > UntornLimits.OBJECTS) UntornLimits.reached(UntornLimits.OF_OBJECTS);
        }
        return nextObject++;
    }

    static long newLock() {
        long id = U.getAndAddLong(null, memory + CONTROL_NEXT_LOCK, 1);
        if (id > UntornLimits.LOCKS) UntornLimits.reached(UntornLimits.OF_LOCKS);
        return id;
    }

    static int newClass() {
        int id = (int) U.getAndAddLong(null, memory + CONTROL_NEXT_CLASS, 1);
        if (id > UntornLimits.CLASSES) UntornLimits.reached(UntornLimits.OF_CLASSES);
        return id;
    }

    static long newKey() {
        return U.getAndAddLong(null, memory + CONTROL_NEXT_KEY, 1);
    }

    // ---- the end --------------------------------------------------------------------------------------------------

    /** This thread ends: its records are complete, and its exit follows every earlier one. */
    void end() {
        if (silent) return;
        probe();
        UntornShadow.abandon(this);
        tellHandedOver();
        if (objects != null) UntornRef.handOver(this);
        boolean heard = position != 0;
        if (heard) room();
        globalLock();
        try {
            if (heard) {
                if (UntornMode.FIRST) note();
                edge(lastExit);
                lastExit = here();
            }
            // After the exit is known: who finds no context finds the exit.
            U.storeFence();
            contexts[id] = null;
            living--;
        } finally {
            globalUnlock();
        }
        silence();
        mine = UntornBadge.NONE;
        born = 0;
        thread = null;
        nextSegment();
    }

    // ---- the stack ------------------------------------------------------------------------------------------------

    /** Fails here, where nothing has been done yet, if the stack is too short for the slow path that follows. */
    static void probe() {
        UntornStack.forSlowPath();
    }

    // ---- the global lock ------------------------------------------------------------------------------------------

    static void globalLock() {
        for (int tries = 1; !U.compareAndSetInt(null, GLOBAL_LOCK, 0, 1); tries++) pause(tries);
    }

    static void globalUnlock() {
        U.putIntRelease(null, GLOBAL_LOCK, 0);
    }

    // ---- which word is held ---------------------------------------------------------------------------------------

    Object heldNow() {
        return U.getReferenceAcquire(this, HELD);
    }
}
