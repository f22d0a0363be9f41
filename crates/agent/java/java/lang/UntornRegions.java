package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;

/**
 * The regions of one thread that are open, and the monitors that its frames hold.
 */
abstract class UntornRegions extends UntornTransactions {
    private final int[] barriersBefore = new int[REGIONS];
    private final long[] spanBefore = new long[REGIONS];
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
    static final long NOTHING_LOST = -1;
    /** For each monitor in {@link #open}, the record of its release; 0 if it has no entry. */
    long[] monitors = new long[8];
    /** The first of the open regions as the rewriter names them, outermost first. */
    final int[] regions = new int[REGIONS];
    static final int REGIONS = 128;
    /**
     * How many of the open regions have their beginning in the log. The others are open for this thread alone: their
     * beginnings are written right before the next record, and a region in which there is none leaves no trace. Most
     * executions of methods are such ones, and no analysis can tell where before its first event a region began.
     */
    int written;
    /** How many regions were open when the outermost running class initializer began in one; stale once there are fewer. */
    private int initializing;
    /** In a second run: whether what happens now is left out. */
    boolean skip;
    /** The first of the open regions that {@link #part} has ended; -1 for none. */
    int parted = -1;
    /** Whether this thread has entered any region. */
    private boolean enters;
    /** By number: {@link #ENTERED}, {@link #DEMOTED} or neither. Replaced when it grows; a thread that comes too early counts nothing twice. */
    static byte[] regionStates = new byte[1024];
    /** A region was entered before; it opens none from now on. */
    static final byte ENTERED = 1, DEMOTED = 2;
    /** When each of {@link #regions} began, as {@link #time} tells it. */
    final int[] begun = new int[REGIONS];
    /** What {@link #time} adds to the records of this thread. */
    int delays;
    /** Whether a region may have been open for long; looked at by {@link #retire} where the thread is at a safe point. */
    boolean overdue;
    /** Where the log stood when this thread was last told to wait. */
    long waitsAt = Long.MIN_VALUE / 2;

    UntornRegions(int id) {
        super(id);
    }

    /** Comes back to the open regions at the next safe point if the outermost one has been open for long. */
    abstract void watchAge();

    /** Ends the open regions that have been open for long. */
    abstract void retire();

    /** Begins anew what a wait has ended. */
    abstract void rejoin();

    /** A region begins, in a run that records regions. Calls, so that sites stay small. */
    @DontInline
    void begin(int region) {
        if (UntornMode.STEERED) region = UntornSteer.begins(region, (UntornThread) this);
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
            spanBefore[at] = span;
            barriersBefore[at] = barriers;
            open++;
            // Accesses before do not stand for those within.
            span = lastSpan += SPAN;
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
    void writeBeginnings() {
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

    @Override
    void setLimit() {
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
    void count(int number) {
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
        span = at < REGIONS && barriersBefore[at] == barriers ? spanBefore[at] : (lastSpan += SPAN);
        if (UntornMode.STEERED) UntornSteer.ended((UntornThread) this);
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
    void unwind(long to) {
        while (open >> 32 > to >> 32) {
            long release = monitors[(int) (open >> 32) - 1];
            if (release == 0) {
                open -= MONITOR;
            } else {
                UntornSync.lost(release, (UntornThread) this);
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
    boolean deeper() {
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

    boolean isInitializing() {
        return initializing != 0 && (int) open >= initializing;
    }
}
