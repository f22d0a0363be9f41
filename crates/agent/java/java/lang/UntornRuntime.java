package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What instrumented code calls. Each entry point has one job and hands it to the class that knows how:
 * {@link UntornShadow} orders accesses, {@link UntornSync} orders locks and threads, {@link UntornThread} writes records.
 *
 * Ground rules, for everything in these files:
 * <ul>
 * <li>Nothing throws, calls user code, or is instrumented. What goes wrong turns recording off for the one event.
 * <li>No initializer runs here: {@code java.lang.Thread} calls {@link #fork} while the VM starts, long before anything
 *     works. Until {@link #on} is set, every entry point returns at once.
 * <li>A {@code site} is the id of one instrumented instruction (25 bits); accesses add {@link #WRITES} when they write
 *     or update. Ids come from the rewriter and are known to the reader before the class is defined.
 * <li>A record is written before what makes it visible to other threads: an access inside its shadow lock, a release
 *     before the real release, an acquisition after the real one.
 * <li>A thread may run out of stack at any call, also at a call of these methods, and then the program sees the error
 *     a little earlier than it would have. (The platform's annotation for reserved stack is no way out: it delays the
 *     error past the program's own handlers.) So every state in between must be one that the next call repairs:
 *     {@link UntornShadow} says how, and what takes a lock first makes sure of its stack ({@link UntornThread#probe}).
 *     What the program takes and gives up by the platform's own locks must not fail halfway either: {@link UntornStack}.
 *     Calls of these methods that stand in an exception handler must lie outside every exception range that leads back
 *     to that handler (javac's handler for {@code monitorexit} covers itself), or the handler would loop.
 * <li>What instrumented code calls is either a call in compiled code, too, or larger than C1 inlines (35 bytes, a test
 *     measures it): inlined by C1 a method counts its calls and branches in one place for all threads, which then fight
 *     over that cache line at every entry of every method, until C2 has compiled it all.
 * <li>A monitor, region or call that is entered while recording is off and left while it is on (or the reverse) shows
 *     up unmatched; the reader drops and counts such events.
 * </ul>
 */
public final class UntornRuntime {
    private UntornRuntime() {}

    /** Added to the site of an access that writes or updates. */
    public static final int WRITES = 1 << 30;
    /** Modes of {@link #lockTaken} and {@link #lockConverted}. */
    public static final int EXCLUSIVE = 0, SHARED = 1, OPTIMISTIC = 2;
    /**
     * Modes of {@link #callBegin}: the call is one step with its record, an interval that may overlap others, or an
     * interval of which nobody asks that, as its accesses are approximate anyway; such a one has no beginning.
     */
    public static final int STEP = 0, INTERVAL = 1, LOOSE = 2;
    /** Added to the first two where the call only reads: it need not hold anything if it repeats what was recorded. */
    public static final int READS = 4;
    /** Of {@link #callAlso}. */
    public static final int ALL = 0, ITERATED = 1, LISTS = 2, RESIZED = 3, ADDED = 4;

    /** Whether anything is recorded. Plain: a thread may notice a change late, which only costs or adds events. */
    static boolean on;

    // ---- contexts -------------------------------------------------------------------------------------------------

    /**
     * The context of the running thread, made on first use; never null. Called once at method entry, where it polls unless
     * the method calls nothing: such a one returns soon, to a loop or a method that polls, and a poll keeps the JIT from
     * moving anything over it.
     */
    public static UntornThread context(boolean polls) {
        Object known = UntornMemory.U.getReference(Thread.currentThread(), UntornThreads.CONTEXT);
        if (known == null) known = UntornThreads.attach(Thread.currentThread(), 0);
        UntornThread c = (UntornThread) known;
        if (polls && UntornMemory.U.getIntOpaque(c, UntornThread.POLL) != 0) answer(c);
        return c;
    }

    /** At the ends of loops, when this thread is asked for what it owns. Never between an access and its preparation. */
    @DontInline
    public static void answer(UntornThread c) {
        UntornEpoch.respond(c);
        if (c.overdue) c.retire();
        if (c.death != null) die(c);
    }

    /** Throws what this thread was stopped with, unless who stops it took that back. */
    @DontInline
    static void die(UntornThread c) {
        Throwable death = UntornStop.executed(c);
        if (death != null) UntornMemory.U.throwException(death);
    }

    /**
     * In a steered run, before an access, a call or a monitor, in classes of a plan: the thread may be held up here. See
     * {@link UntornSteer} for what the numbers mean.
     */
    @DontInline
    public static void steer(Object o, int location, int flags, UntornThread c) {
        if (on && UntornMode.STEERED && !c.silent) UntornSteer.step(o, location, flags, c);
    }

    /** The same before a call of a field updater or a variable handle. */
    @DontInline public static void steerHandle(Object o, Object handle, int flags, UntornThread c) {
        if (on && UntornMode.STEERED && !c.silent && handle != null) UntornHandles.steer(o, handle, flags, c);
    }

    // ---- fields, statics, arrays ----------------------------------------------------------------------------------

    /**
     * Before an instance field access. A null object does nothing here, so that the access itself throws.
     * The call lies inside the exception range that {@link #abandon} guards. Where threads do not poll, this is where one dies that was stopped.
     */
    @ForceInline
    public static void lock(Object o, int site, UntornThread c) {
        if (c.death != null) die(c);
        if (on && o != null) UntornShadow.lock(o, site, c);
    }

    /**
     * Instead of {@link #lock} and {@link #unlock} with optimistic tracking, for code that cannot load a class between
     * here and the access: the record is written at once. A call, so that sites stay small.
     */
    @DontInline
    public static void touch(Object o, int site, UntornThread c) {
        if (on && o != null) UntornShadow.touch(o, site, c);
    }

    /** After it: writes the record, then lets others in. */
    @ForceInline
    public static void unlock(Object o, int site, UntornThread c) {
        if (o != null) UntornShadow.unlock(o, site, c);
    }

    /** Instead of {@link #unlock} when the access threw: lets others in, without a record. */
    public static void abandon(Object o, UntornThread c) {
        if (o != null) UntornShadow.abandon(c);
    }

    /** As {@link #lock} for a static field by its dense id; the class is initialized already. */
    @ForceInline
    public static void lockStatic(int field, int site, UntornThread c) {
        if (c.death != null) die(c);
        if (on) UntornShadow.lockStatic(field, site, c);
    }

    /** As {@link #touch} for a static field. */
    @DontInline
    public static void touchStatic(int field, int site, UntornThread c) {
        if (on) UntornShadow.touchStatic(field, site, c);
    }

    @ForceInline
    public static void unlockStatic(int field, int site, UntornThread c) {
        UntornShadow.unlockStatic(site, c);
    }

    public static void abandonStatic(int field, UntornThread c) {
        UntornShadow.abandon(c);
    }

    /** As {@link #lock} for an array element; a null array or an index out of bounds does nothing. */
    public static void lockArray(Object array, int index, int site, UntornThread c) {
        if (c.death != null) die(c);
        if (on && array != null) UntornArrays.lock(array, index, site, c);
    }

    public static void unlockArray(Object array, int index, int site, UntornThread c) {
        if (array != null) UntornArrays.unlock(array, index, site, c);
    }

    public static void abandonArray(Object array, int index, UntornThread c) {
        if (array != null) UntornShadow.abandon(c);
    }

    // ---- monitors -------------------------------------------------------------------------------------------------

    /**
     * Before {@code monitorenter}, optional: looks the lock up while its header is free. The hash of a locked object takes
     * the JVM long to find, and making one would inflate its monitor. Does nothing for null. Polls, as the thread may block.
     */
    @DontInline
    public static void entering(Object lock, UntornThread c) {
        c.poll();
        if (on && lock != null) UntornSync.entering(lock, c);
    }

    /** After {@code monitorenter}, and at the entry of a synchronized method. */
    @DontInline
    public static void acquired(Object lock, int site, UntornThread c) {
        if (on) UntornSync.entered(lock, site, c);
    }

    /**
     * Before {@code monitorexit}, and at each exit of a synchronized method, also by an exception; {@code mark} is what
     * was open before the monitor was taken. Does nothing if {@link #acquired} did not come to its end, or this did before.
     */
    @DontInline
    public static void releasing(Object lock, int site, long mark, UntornThread c) {
        if (on) UntornSync.exiting(lock, site, mark, c);
    }

    /** As {@link #releasing}, where nobody knows which block ends: the one entered last. */
    @DontInline
    public static void releasingLast(Object lock, int site, UntornThread c) {
        if (on) UntornSync.exitingLast(lock, site, c);
    }

    /** Before {@code Object.wait}, when the thread holds the monitor (checked here). */
    @DontInline
    public static void waiting(Object lock, int site, UntornThread c) {
        if (c.death != null) die(c);
        if (on && lock != null) UntornSync.waiting(lock, site, c);
    }

    /** After {@code Object.wait} returned or threw anything; does nothing unless a {@link #waiting} is open. */
    @DontInline
    public static void woken(Object lock, int site, UntornThread c) {
        if (!on) return;
        UntornEpoch.unblocks(c);
        if (lock != null) UntornSync.woken(c);
        // To be stopped ends a wait, and not as an interruption, which it seems to be if its end came out before.
        if (c.death != null) die(c);
    }

    /** Before {@code notify} and {@code notifyAll}. */
    @DontInline
    public static void notifying(Object lock, int site, UntornThread c) {
        if (on && lock != null) UntornSync.notifying(lock, site, c);
    }

    // ---- regions and stacks ---------------------------------------------------------------------------------------

    public static void begin(int region, UntornThread c) {
        if (!UntornMode.FIRST) {
            c.begin(region);
        } else {
            if (c.enters(region) && c.opens(region)) c.turn((region & UntornMode.NUMBER) + 1);
        }
    }

    /**
     * On every exit of the region, also by an exception; {@code mark} is what was open before it. Does nothing if the
     * region did not begin or has ended.
     */
    public static void end(int region, long mark, UntornThread c) {
        if (!UntornMode.FIRST) {
            c.end(region, mark);
        } else if ((int) c.open - (int) mark == 1 || c.straightenRegions((int) mark + 1)) {
            if ((int) --c.open == 0) c.turn(0);
            if (c.overdue) c.retire();
        }
    }

    /**
     * Where this thread waits for others by its purpose: before a call in which it does, after one that moves something as
     * well, in each round of a loop that spins, and at both ends of methods that hold any of these. What it does before and
     * after is not meant to be one step. The number means nothing.
     */
    @DontInline
    public static void waits(int number, UntornThread c) {
        if (on && !c.silent) c.waits();
    }

    /** When a class initializer begins; whether {@link #initialized} is to be called at its end. */
    @DontInline
    public static boolean initializing(UntornThread c) {
        return on && c.initializes();
    }

    /** When it ends, in whatever way. */
    @DontInline
    public static void initialized(boolean inside, UntornThread c) {
        if (on && inside) c.initialized();
    }

    @DontInline
    public static void enter(int method, UntornThread c) {
        if (on) c.log(UntornRecord.ENTER, method);
    }

    @DontInline
    public static void exit(int method, UntornThread c) {
        if (on) c.log(UntornRecord.EXIT, method);
    }

    // ---- library models -------------------------------------------------------------------------------------------

    /** Before a call of a lock or condition: from here on the lock tells of itself. */
    @DontInline
    public static void watchLock(Object lock, int site, UntornThread c) {
        if (on && lock != null) UntornLocks.watch(lock, site, c);
    }

    /**
     * Before something is taken from other threads that is recorded once it is taken: fails here, where nothing has happened,
     * if the stack is too short for both and for giving it back.
     */
    @DontInline
    public static void reserve() { if (on) UntornStack.forTaking(); }

    /** Before the release-like half of a synchronizer: count down, complete, release a permit, submit a task. */
    @DontInline
    public static void signal(Object synchronizer, int site, UntornThread c) {
        if (on && synchronizer != null) UntornSync.signal(synchronizer, site, c);
    }

    /** After the acquire-like half. */
    @DontInline
    public static void await(Object synchronizer, int site, UntornThread c) {
        if (on && synchronizer != null) UntornSync.await(synchronizer, site, c);
    }

    /**
     * Before a call that accesses what {@code receiver} holds; whether it is recorded, and the others are to be called.
     * {@link #STEP} holds the receiver's shadow word until {@link #callEnd}: only for calls that neither block nor call
     * back. {@link #INTERVAL} holds nothing; calls that overlap another on the same receiver are marked approximate.
     */
    public static boolean callBegin(Object receiver, int mode, int site, UntornThread c) {
        if (!on || receiver == null) return false;
        Object content = UntornPlaces.content(receiver);
        if (content == null || UntornPlaces.isPrivate(content, site, c)) return false;
        return UntornCalls.begin(receiver, content, mode, site, c);
    }

    /**
     * After it returned, before {@link #callEnd}: something else that the call accessed. {@code of} is {@link #ALL};
     * {@link #ITERATED}: approximate for collections whose iterators may miss changes; {@link #LISTS}: if it is a list;
     * {@link #RESIZED}: if its size is another one since the call began; {@link #ADDED}: the same, where the call says so
     * unless there was a null.
     */
    @DontInline
    public static void callAlso(Object receiver, int of, int site, UntornThread c) {
        if (receiver != null) UntornCalls.also(receiver, of, site, c);
    }

    /** After it returned. */
    @DontInline
    public static void callEnd(Object receiver, Object key, int mode, int site, UntornThread c) {
        if (receiver != null) UntornCalls.end(receiver, key, 0, mode, site, c);
    }

    /** The same with an index for a key. */
    @DontInline
    public static void callEndAt(Object receiver, int index, int mode, int site, UntornThread c) {
        if (receiver != null) UntornCalls.end(receiver, UntornCalls.INDEX, index, mode, site, c);
    }

    /**
     * Instead of {@link #callEnd} when the call threw: it may have touched the receiver, so it is recorded too, as is
     * what it has read to throw, if that is known (else -1).
     */
    @DontInline
    public static void callThrew(Object receiver, int read, int mode, int site, UntornThread c) {
        if (receiver != null) UntornCalls.threw(receiver, read, mode, site, c);
    }

    /** Before a call of an updater or handle: see {@link UntornHandles}; 0 if {@link #handleEnd} is not to be called. */
    public static long handleBegin(Object o, Object handle, int index, int mode, int site, UntornThread c) {
        if (!on || handle == null || o != null && UntornPlaces.isMine(o, c)) return 0;
        return UntornHandles.begin(o, handle, index, mode, site, c);
    }

    /** After it returned, with the site of a read if it has only read; instead, when it threw. */
    @DontInline public static void handleEnd(Object o, Object handle, int index, int mode, int site, long begun, UntornThread c) {
        UntornHandles.end(o, handle, index, mode, site, begun, c);
    }
    @DontInline public static void handleThrew(Object o, int mode, int site, UntornThread c) { UntornHandles.threw(o, mode, site, c); }

    /** Around calls that may start or join a thread: where they stand; -1 after them. */
    @DontInline
    public static void at(int site, UntornThread c) {
        c.callSite = site + 1;
    }

    // ---- new objects -----------------------------------------------------------------------------------------------

    /**
     * The first word of a watched object that this thread makes: the thread's own, or 0 while accesses to objects of its class
     * are recorded. To be inlined by C2, or new objects would escape.
     */
    public static long word(Object o, UntornThread c) {
        if (!on || UntornMode.FIRST || !UntornShadow.ELIDES) return c.born;
        // First, as the interpreter passes a safe point there.
        long mask = UntornBudget.born(o.getClass());
        return mask & c.born;
    }

    /** After the constructor of a superclass that is not watched: the object is this thread's, unless it is known already. */
    @DontInline
    public static void made(Object o, UntornThread c) {
        if (on) UntornPlaces.made(o, c);
    }

    // ---- the agent's side -----------------------------------------------------------------------------------------

    /** Called by the agent once the shared memory is there; what this throws, it tells the reader. */
    @DontInline
    private static void boot(long memory) {
        UntornBoot.boot(memory);
        on = true;
        // Last: from here on the platform's own methods call these.
        UntornMemory.U.putInt(Object.class, UntornMemory.U.objectFieldOffset(Class.class, "$untornReady"), 1);
    }

    /** Called by the agent when the other side is gone, and by threads that find recording stopped. */
    static void stop() {
        on = false;
    }
}
