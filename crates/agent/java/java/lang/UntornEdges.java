package java.lang;

import jdk.internal.vm.annotation.DontInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;
import static java.lang.UntornThreads.*;

/**
 * What orders the records of one thread after those of others.
 */
abstract class UntornEdges extends UntornDemotion {
    /** How many edges a thread remembers, a power of two. */
    private static final int EDGES = 16;
    /** Recently written edges, by thread: a position at or before one of them needs no edge. */
    final long[] edges = new long[EDGES];

    UntornEdges(int id) {
        super(id);
    }

    /** Everything up to that point (packed) precedes what this thread writes next. Room for it is there. */
    void edge(long from) {
        if (!needed(from)) {
            // What comes next may depend on more of that thread than what was recorded since the edge that stands for this one.
            if (from != 0 && from >>> POSITION_BITS != id) newSpan();
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

    /** As {@link #edge}, making room. */
    private void edgeWithRoom(long from) {
        if (cursor >= full) nextSegment();
        edge(from);
    }

    private static int slot(long from) {
        return (int) (from >>> POSITION_BITS) & EDGES - 1;
    }

    /** Whether no edge written before stands for this one. */
    boolean needed(long from) {
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
}
