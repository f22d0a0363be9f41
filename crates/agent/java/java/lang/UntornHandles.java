package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Accesses by field updaters and variable handles. One to a field of a watched class is an access to that field, in the
 * order that the field's own shadow word gives, as if an instruction had made it; which field, the record before it tells.
 *
 * <p>The platform makes the access in code of its own, where a thread may pass a safe point: a handle is linked at its first
 * use, and the interpreter makes native calls. So the word is locked for the time of the call with both trackings, and the
 * record written at its end, before the word is freed. With optimistic tracking, a word that its thread owned goes back to it,
 * under the epoch that the thread has by then: one that ended meanwhile ended before the record, and nobody may claim the
 * word by that end.
 *
 * <p>A call that calls back ({@code updateAndGet}) is several steps of which the last one alone counts, a compare-and-set
 * that came after whatever it called back. Its word is taken at both ends and not held in between: if nobody had it
 * meanwhile, the end is as good as the last step, and if somebody had, the record says so.
 *
 * <p>What is for no known field (an array without {@code --arrays}, memory, a field of a class that is not watched) is a call
 * on what its object holds ({@link UntornCalls}).
 */
final class UntornHandles {
    private static final Unsafe U = Unsafe.getUnsafe();

    /**
     * What {@link #begin} has begun: nothing that is recorded, a call on what the object holds, an access whose word is held,
     * or one to an element. Anything else is the word of a call that calls back.
     */
    private static final long NOTHING = 0, CONTENT = 1, HELD = 2, ELEMENT = 3;

    /** The modes of {@link UntornRuntime#callBegin}, and what is added to them if elements of arrays are watched. */
    private static final int KIND = 7, ELEMENTS = 8;

    /** What an access writes: two records before its own. */
    private static final long RECORDS = 3 * 8;

    private UntornHandles() {}

    /** What a call without a field is on: the handle itself if there is no object. */
    private static Object content(Object o, Object handle) {
        return o != null ? o : handle;
    }

    @DontInline
    static long begin(Object o, Object handle, int index, int mode, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return NOTHING;
        UntornFields.Known known = UntornFields.of(handle);
        if (known == null) return NOTHING;
        if (known.isElement && (mode & ELEMENTS) != 0) {
            if (o == null || !o.getClass().isArray()) return NOTHING;
            UntornArrays.lock(o, index, site, c);
            return c.held instanceof UntornWord ? ELEMENT : NOTHING;
        }
        // The call itself says so.
        if (o == null && known.name != null) return NOTHING;
        if (known.field < 0) {
            boolean begun = UntornRuntime.callBegin(content(o, handle), mode & KIND, site, c);
            return begun ? CONTENT : NOTHING;
        }
        Object holder = holder(o, handle, known);
        if (holder == null) return NOTHING;
        // Who could not be told of what it has changed might not undo it.
        if ((site & UntornRuntime.WRITES) != 0) UntornStack.forGiving();
        boolean isStep = (mode & KIND & ~UntornRuntime.READS) == UntornRuntime.STEP;
        if (UntornMode.FIRST && UntornShadow.OPTIMISTIC) {
            // It writes no record, and an edge may as well be drawn before.
            UntornShadow.record(holder, place(known), site, c);
            return NOTHING;
        }
        if (!hold(holder, place(known), site, c)) return NOTHING;
        if (isStep) return HELD;
        return free(holder, c);
    }

    /** In a steered run: the step is one at the field, as those of instructions are. */
    static void steer(Object o, Object handle, int flags, UntornThread c) {
        UntornFields.Known known = UntornFields.of(handle);
        if (known == null) return;
        boolean isField = known.field >= 0;
        int location = isField ? known.field : UntornSteer.CONTENT;
        UntornSteer.step(isField && known.isStatic ? null : content(o, handle), location, flags, c);
    }

    /** Where the word is that orders accesses to a field: in an object, or that of the static field; null for nowhere. */
    private static Object holder(Object o, Object handle, UntornFields.Known known) {
        if (known.isStatic) return UntornWords.word(known.field);
        return o != null && known.isOf(o, handle) ? o : null;
    }

    private static long place(UntornFields.Known known) {
        return known.isStatic ? UntornWord.WORD : known.word;
    }

    /** After the call returned; the site is that of a read if it has turned out to be no more. */
    @DontInline
    static void end(Object o, Object handle, int index, int mode, int site, long begun, UntornThread c) {
        if (begun == CONTENT) {
            Object content = content(o, handle);
            Object key = o == null ? null : index >= 0 ? UntornCalls.INDEX : handle;
            UntornCalls.end(content, key, index, mode & KIND, site, c);
            return;
        }
        if (begun == ELEMENT) {
            if (isHeld(c.held, c)) UntornArrays.unlock(o, index, site, c);
            return;
        }
        UntornFields.Known known = begun == NOTHING || c.silent ? null : UntornFields.of(handle);
        Object holder = known == null ? null : holder(o, handle, known);
        if (holder == null) return;
        boolean alone = true;
        if (begun != HELD) {
            if (!UntornRuntime.on || !hold(holder, place(known), site, c)) return;
            alone = c.before == begun;
        } else if (c.held != holder || !isHeld(holder, c)) {
            // What the platform called in between has accessed something itself.
            return;
        }
        if (c.cursor + RECORDS > c.full) {
            // Or recorded something else.
            UntornShadow.abandon(c);
            return;
        }
        if (!alone) c.writePart((long) UntornRecord.APPROXIMATE << UntornRecord.OP_SHIFT | 1);
        long kind = known.isStatic ? UntornRecord.FIELD_STATIC : 0;
        c.writePart((long) UntornRecord.FIELD << UntornRecord.OP_SHIFT | kind | known.field);
        c.write(UntornShadow.access(site, c.word));
        free(holder, c);
    }

    /** Instead of {@link #end} when the call threw: then it has accessed no field. */
    @DontInline
    static void threw(Object content, int mode, int site, UntornThread c) {
        if (isHeld(c.held, c) && !(c.held instanceof UntornEntry)) {
            UntornShadow.abandon(c);
        } else if (content != null) {
            UntornCalls.threw(content, -1, mode & KIND, site, c);
        }
    }

    /** Whether a word is locked until somebody here frees it, and not only until the next safe point. */
    private static boolean isHeld(Object holder, UntornThread c) {
        return holder != null && !c.silent && c.deferred == 0;
    }

    /** Frees the word that this thread holds after its access; returns what it is then. What was another thread's is no more fresh. */
    private static long free(Object holder, UntornThread c) {
        long word = c.word, mine = c.mine;
        if (c.keeps && mine != UntornEpoch.NONE) {
            long state = c.before & (UntornShadow.STATE | UntornShadow.OBJECT);
            // Still recorded only as long as its class can afford it.
            boolean fresh = state != 0 && (state & UntornShadow.STATE) == UntornShadow.FRESH;
            word = (fresh ? 0 : word & UntornShadow.STATE) | mine | word & UntornShadow.OBJECT;
        }
        U.putLongRelease(holder, c.offset, word);
        c.held = null;
        return word;
    }

    /**
     * Locks the word at that place for an access, whatever its state is, with the edges that order the access; false if the
     * access is not recorded. Transitions are those of {@link UntornOwner} and {@link UntornShadow}.
     */
    private static boolean hold(Object holder, long offset, int site, UntornThread c) {
        UntornThread.probe();
        UntornShadow.abandon(c);
        c.keeps = false;
        boolean writes = (site & UntornRuntime.WRITES) != 0, contended = false;
        Class<?> k = holder.getClass();
        for (;;) {
            c.poll();
            c.room();
            long mine = c.mine, word = U.getLongVolatile(holder, offset);
            if (!UntornShadow.OPTIMISTIC || (word & UntornShadow.CONTENDED) != 0
                    || word == 0 && (mine == UntornEpoch.NONE || holder instanceof UntornWord)) {
                UntornShadow.take(holder, offset, site, c);
                if (c.held == holder) return true;
                if (!UntornShadow.OPTIMISTIC) return false;
                continue;
            }
            if (word == mine || word == UntornOwner.UNTRACKED) return false;
            if ((word & ~UntornShadow.OWNER) == 0) {
                // Nobody's, or of one thread alone, which may be this one by now.
                UntornOwner.publish(holder, offset, c);
                continue;
            }
            long state = word & UntornShadow.STATE, object = word & UntornShadow.OBJECT;
            int epoch = (int) ((word & UntornShadow.OWNER) >>> UntornRecord.OBJECT_BITS);
            if (state == UntornShadow.RD_SH) {
                if (!writes && !c.fenced(epoch, UntornShadow.UNKNOWN_TRANSITION)) {
                    c.fence(epoch, UntornShadow.UNKNOWN_TRANSITION);
                } else if (UntornOwner.lock(holder, offset, word, c)) {
                    if (!writes) {
                        c.word = word;
                        return true;
                    }
                    if (UntornOwner.unshareLocked(holder, offset, word, c)) return true;
                }
                continue;
            }
            boolean own = (word & UntornShadow.OWNER) == mine;
            if (own) {
                if (state == UntornShadow.FRESH && !UntornBudget.covers(k)) {
                    U.compareAndSetLong(holder, offset, word, mine);
                    continue;
                }
            } else {
                UntornThread owner = UntornEpoch.owner(epoch);
                if (owner != null && owner != c) {
                    if (!UntornEpoch.coordinate(owner, epoch, c)) {
                        UntornOwner.untrack(holder, offset, word);
                    } else {
                        // Who reads may go on reading beside others, or write next.
                        contended = state != UntornShadow.FRESH && (writes || c.chance(2));
                    }
                    continue;
                }
                own = owner == c || UntornEpoch.formerOwner(epoch) == c.id;
                if (!own) c.edge(UntornEpoch.end(epoch));
            }
            if (!UntornOwner.lock(holder, offset, word, c)) continue;
            if (!own && state == UntornShadow.FRESH) {
                UntornBudget.earn(k);
                c.before = 0;
            }
            boolean exclusive = writes || own && state != UntornShadow.RD_EX;
            c.word = UntornShadow.CONTENDED | (exclusive ? UntornShadow.WR_EX : UntornShadow.RD_EX) | c.owner | object;
            c.keeps = mine != UntornEpoch.NONE && !contended;
            return true;
        }
    }
}
