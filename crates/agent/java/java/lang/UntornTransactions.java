package java.lang;

import jdk.internal.vm.annotation.DontInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;
import static java.lang.UntornThreads.*;

/**
 * In a first run: the transactions of one thread, whose numbers take the place of positions in the log.
 */
abstract class UntornTransactions extends UntornLog {
    /** Nothing is a region in this thread. */
    boolean plain;
    /** The latest transactions by number, each with its region; their numbers take the place of positions. */
    long[] transactions;
    /** The transaction that the log names last. */
    long noted;
    static final int TRANSACTIONS = 16;
    /**
     * How many dependences have entered this thread, and the regions told of since the last one. A
     * dependence that leaves the thread may name a later transaction than the one that it comes from; as each region is
     * told of once after it was entered, the true one is among those that the reader knows.
     */
    long entered;
    long[] told;
    static final int TOLD = 64;

    UntornTransactions(int id) {
        super(id);
    }

    /** This thread is in a first run from its beginning on. */
    void beginsFirstRun() {
        transactions = new long[TRANSACTIONS];
        told = new long[TOLD];
        turnTo(0);
    }

    @Override
    void beginsAfter(long edge) {
        if (UntornMode.FIRST) {
            // It leads to the transaction in which the thread began, whatever it did since.
            emit((long) IN << OP_SHIFT | 1L << REGION_BITS);
            noted = 1;
            source(edge);
        } else {
            write((long) EDGE << OP_SHIFT | edge);
        }
    }

    /** An outermost region begins or, with 0, ends. */
    @DontInline
    void turn(int region) {
        if (!plain && transactions != null) turnTo(region);
    }

    /** The next transaction begins. */
    void turnTo(int region) {
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
    void tell(int region) {
        if (full - cursor < EVENT_BYTES) nextSegment();
        told[region & TOLD - 1] = entered << REGION_BITS | region;
        note();
    }

    /** Tells the reader the current transaction. */
    void note() {
        if (noted == position) return;
        noted = position;
        emit((long) IN << OP_SHIFT | transactions[(int) position & TRANSACTIONS - 1]);
    }

    /** Where a dependence comes from; one that its thread no longer remembers, from a later one of that thread. */
    void source(long from) {
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
}
