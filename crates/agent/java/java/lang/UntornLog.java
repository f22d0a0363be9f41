package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;

/**
 * The log of one thread: its id and its place in the log, the lowest layer of {@link UntornThread}.
 */
abstract class UntornLog {
    static final long POSITION = U.objectFieldOffset(UntornLog.class, "position");
    static final long POLL = U.objectFieldOffset(UntornLog.class, "poll");
    final int id;
    /** The id in the place where shadow words hold it. */
    final long owner;
    /** How many records this thread has written; others read it to draw edges. */
    long position;
    long cursor;
    /** Where the room for records ends; 0 if something is to be done before the next record, see {@link #moreRoom}. */
    public long limit;
    /** Where it really ends. */
    long full;
    private long sequence;
    int segment = NONE;
    /** Dead, or born after recording ended. */
    boolean silent;
    /** The edge that must precede the first record, packed; 0 for none. */
    long firstEdge;
    /**
     * Which accesses stand for later ones, see {@link UntornRepeats}, whose table this is: another one after every edge and
     * every record of a lock, and in every region. A region's is the same again after one within it in which there was
     * neither. None is ever used again by another region.
     */
    long span;
    long lastSpan;
    long[] repeats;
    /** How many records were neither of accesses nor of regions; for each of {@link #regions}, that and the span before it. */
    int barriers;
    /** Odd and without a pattern, so that spans differ from each other in ways in which no records do. */
    static final long SPAN = 0x9e3779b97f4a7c15L;
    /** Objects that this thread got and that were not recorded before, since it last said so. */
    int handedOver;
    /** Whether somebody wants this thread to pass a safe point. Volatile, as instrumented loops read it. */
    public volatile int poll;

    UntornLog(int id) {
        this.id = id;
        this.owner = (long) id << OBJECT_BITS;
    }

    /** Makes room for the next event and writes what has to come before it. */
    abstract void moreRoom();

    /** Lets the next record through, or first by {@link #moreRoom} if something has to come before it. */
    abstract void setLimit();

    /** Writes that what this thread does comes after that point (packed). */
    abstract void beginsAfter(long edge);

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

    void tellHandedOver() {
        if (handedOver != 0) UntornNatives.handedOver(handedOver);
        handedOver = 0;
    }

    @ForceInline
    void write(long record) {
        // Whatever is no access; those have the highest bit.
        if (record >= 0) newSpan();
        writePart(record);
    }

    /** What was recorded before stands for nothing that comes. */
    void newSpan() {
        barriers++;
        span = lastSpan += SPAN;
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

    @DontInline
    void nextSegment() {
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
            beginsAfter(edge);
        }
    }

    /** Writes a record of a first run, which does not count. */
    void emit(long record) {
        U.putLongRelease(null, cursor, record);
        cursor += 8;
    }

    /** Fails here, where nothing has been done yet, if the stack is too short for the slow path that follows. */
    static void probe() {
        UntornStack.forSlowPath();
    }
}
