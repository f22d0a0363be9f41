package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

import static java.lang.UntornMemory.*;
import static java.lang.UntornThreads.*;

/**
 * The context of one thread: its place in the log, its regions, and what it holds; each concern is a layer of its own, from
 * {@link UntornLog} up, and knows only those below it.
 * It belongs to the Java thread object, so a virtual thread keeps it on every carrier.
 */
public final class UntornThread extends UntornCallStack {
    private static final long HELD = U.objectFieldOffset(UntornThread.class, "held");

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
     * Who then finds this thread blocked frees the word.
     */
    long deferred;
    /** Whether the word that this thread holds was its own, and becomes that again. */
    boolean keeps;
    /** The part of the record that only the locking half knows. */
    long operand;

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
    /** Objects that this thread gave an id: how many, how many since it last looked which are gone, and when that was. */
    UntornRef objects;
    int objectCount, objectsAdded, objectsSeen;

    // ---- steering: see UntornSteer ------------------------------------------------------------------------------

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

    // ---- ownership: see UntornEpoch, which alone writes what other threads write here ---------------------------

    /** The word of an object that this thread alone has touched: its epoch; {@link UntornEpoch#NONE} if it has none. */
    public long mine = UntornEpoch.NONE;
    /** What the word of a new object is. */
    public long born;
    /** What is to be thrown at the next safe point in the program's own code; null for nothing. */
    volatile Throwable death;
    /** What inserted code could not let through to the program, stored together with {@link #poll}; null for nothing. */
    public Throwable dropped;
    /** Held by who asks this thread for something. */
    int requestLock;
    /** Whether the newest request is open, its number, and the number of the last one that was answered implicitly. */
    int request, requestNumber, implicitNumber;
    /** Whether this thread is blocked; see {@link UntornEpoch#blocks}. */
    int blocked;

    /** Whose context this is; null once it has ended. */
    Thread thread;

    UntornThread(int id) {
        super(id);
    }

    /** A safe point: no access is under way, and what was known of words and epochs is looked up again. */
    @ForceInline
    void poll() {
        if (U.getIntOpaque(this, POLL) != 0) UntornEpoch.respond(this);
    }

    /** Whether that is what {@code Thread.stop} throws: this thread dies of it at its next safe point in the program's own code. */
    boolean dies(Throwable what) {
        if (!what.getClass().getName().equals("java.lang.ThreadDeath")) return false;
        UntornStop.sentence(this, what);
        return true;
    }

    @ForceInline
    static UntornThread current() {
        Object context = U.getReference(Thread.currentThread(), CONTEXT);
        return context != null ? (UntornThread) context : attach(Thread.currentThread(), 0);
    }

    /** From now on nothing this thread does is recorded. */
    void silence() {
        silent = true;
        // Makes the slow path of every access see it, without a check on the fast one.
        held = this;
    }

    @Override
    @DontInline
    void moreRoom() {
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

    /** A new object id, or 0 when there are none left. */
    long newObject() {
        if (nextObject == lastObject) {
            nextObject = U.getAndAddLong(null, memory + CONTROL_NEXT_OBJECT, 4096);
            lastObject = nextObject + 4096;
            if (lastObject > UntornLimits.OBJECTS) UntornLimits.reached(UntornLimits.OF_OBJECTS);
        }
        return nextObject++;
    }

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
        mine = UntornEpoch.NONE;
        born = 0;
        thread = null;
        nextSegment();
    }

    Object heldNow() {
        return U.getReferenceAcquire(this, HELD);
    }
}
