package java.lang;

import java.util.AbstractList;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentMap;
import jdk.internal.vm.annotation.DontInline;

/**
 * Accesses that library calls make to what an object holds: a collection's entry or the whole, an atomic's value.
 *
 * A call that neither blocks nor calls back is one step: its receiver's shadow word stays locked until its record is
 * written. Any other call is an interval whose record is written at its end; if another call on the same receiver ran
 * in between, their order is unknown and the record says so. A first run writes no records, so there an interval is its
 * end, and so is everywhere what is approximate by itself.
 *
 * What a call is on is the collection itself, also if it goes through a view, a wrapper or an iterator of it
 * ({@link UntornPlaces#content}). The model describes the platform's own classes: a call on any other is approximate, as
 * is one on a map that compares keys by identity.
 */
final class UntornCalls {
    /** Stands for a key that is an index. */
    static final Object INDEX = new Object();

    private UntornCalls() {}

    /** A call on what several threads use begins; whether its end is to be told. */
    @DontInline
    static boolean begin(Object receiver, Object content, int mode, int site, UntornThread c) {
        if (c.silent || UntornMode.SECOND && c.skip) return false;
        int kind = mode & ~UntornRuntime.READS;
        // Who could not be told of what it has changed might not undo it.
        if (kind == mode) UntornStack.forGiving();
        if (UntornMode.FIRST && kind != UntornRuntime.STEP) return true;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(content, receiver, c);
        if (entry == null || entry.objectId(c) == 0) return false;
        if (kind != mode && repeats(entry, content, site, c)) return true;
        if (kind == UntornRuntime.STEP) {
            UntornShadow.take(entry, UntornEntry.WORD, site, c);
        } else if (c.pushCall(entry)) {
            c.setCallSize(size(content));
        }
        return true;
    }

    static void end(Object receiver, Object key, int index, int mode, int site, UntornThread c) {
        // A word that is held must be freed even when recording has stopped.
        if (!UntornRuntime.on && !(c.held instanceof UntornEntry)) return;
        Object content = UntornPlaces.content(receiver);
        if (content == null) return;
        int kind = mode & ~UntornRuntime.READS;
        UntornEntry repeated = c.repeated;
        if (kind != mode && repeated != null && repeated.refersTo(content)) {
            c.repeated = null;
            if (!c.silent) repeated(repeated, key, index, false, site, c);
            return;
        }
        if (kind == UntornRuntime.LOOSE || UntornMode.FIRST && kind != UntornRuntime.STEP) {
            only(receiver, content, key, index, site, c);
            return;
        }
        if (c.silent || UntornMode.SECOND && c.skip) return;
        if (kind == UntornRuntime.STEP && c.held instanceof UntornEntry) {
            record((UntornEntry) c.held, key(key, index), false, site, c);
            return;
        }
        UntornShadow.abandon(c);
        if (kind == UntornRuntime.INTERVAL && c.call(content) >= 0) {
            for (;;) {
                UntornEntry entry = c.topCall();
                boolean overlapped = entry.endCall(c.popCall());
                // Calls above this one were left without an end.
                if (!entry.refersTo(content)) continue;
                boolean modelled = isModelled(content) || UntornFields.isHandle(key);
                write(entry, key, index, overlapped || !modelled, site, c);
                return;
            }
        }
        // An interval that was not recorded from the start, for want of memory.
        if (!UntornRuntime.on || kind == UntornRuntime.INTERVAL) return;
        // It called back after all, and what it called took the word away.
        UntornEntry entry = UntornTable.find(content, receiver, c);
        if (entry != null && entry.objectId(c) != 0) write(entry, key, index, true, site, c);
    }

    /** Instead of the end of a call that threw, whether it is recorded or not; it has read something else, or -1. */
    static void threw(Object receiver, int read, int mode, int site, UntornThread c) {
        boolean isStep = (mode & ~UntornRuntime.READS) == UntornRuntime.STEP;
        if (isStep && !(c.held instanceof UntornEntry) && c.repeated == null) return;
        int of = receiver instanceof Iterator ? UntornRuntime.ITERATED : UntornRuntime.ALL;
        if (read != -1) also(receiver, of, read, c);
        end(receiver, null, 0, mode, site, c);
    }

    /** Something else that a call accessed which has returned and has not been ended. */
    static void also(Object receiver, int of, int site, UntornThread c) {
        if (UntornMode.FIRST || !UntornRuntime.on || c.silent || UntornMode.SECOND && c.skip) return;
        Object content = UntornPlaces.content(receiver);
        if (content == null || of == UntornRuntime.LISTS && !(content instanceof AbstractList)) return;
        UntornEntry repeated = c.repeated;
        boolean repeats = repeated != null && repeated.refersTo(content);
        int call = repeats ? -1 : c.call(content);
        if (call < 0 && !repeats) return;
        UntornShadow.abandon(c);
        boolean approximate = !isModelled(content);
        if (of == UntornRuntime.ITERATED) {
            boolean failsFast = content instanceof AbstractList || content instanceof PriorityQueue;
            approximate |= content instanceof ConcurrentMap || content instanceof Queue && !failsFast;
        } else if (of == UntornRuntime.RESIZED || of == UntornRuntime.ADDED) {
            int before = c.callSize(call);
            if (before >= 0 && before == size(content)) return;
            boolean said = of == UntornRuntime.ADDED
                    && (content instanceof ConcurrentMap || content instanceof Hashtable);
            approximate |= before < 0 && !said;
        }
        if (repeats) {
            repeated(repeated, null, 0, approximate, site, c);
            return;
        }
        UntornEntry entry = c.callEntry(call);
        // What begins from here on comes after what this call has done.
        approximate |= entry.isOverlapped(c.callBegun(call));
        write(entry, null, 0, approximate, site, c);
    }

    /**
     * The size of a map that may hold null, of which a result of null does not tell whether there was something; -1 for
     * others, since some take long to count.
     */
    private static int size(Object content) {
        if (!isModelled(content)) return -1;
        if (content instanceof HashMap) return ((HashMap<?, ?>) content).size();
        return content instanceof TreeMap ? ((TreeMap<?, ?>) content).size() : -1;
    }

    /** Whether the model says exactly what calls on an object do. */
    private static boolean isModelled(Object content) {
        Class<?> k = content.getClass();
        // No class of the program is in a package of the library.
        if (k.getClassLoader0() != null) return k.getName().startsWith("kotlinx.coroutines.");
        return !(content instanceof IdentityHashMap);
    }

    /** A call of which only the end counts. */
    private static void only(Object receiver, Object content, Object key, int index, int site, UntornThread c) {
        if (!UntornRuntime.on || c.silent || UntornMode.SECOND && c.skip) return;
        if (UntornPlaces.isPrivate(content, site, c)) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(content, receiver, c);
        if (entry != null && entry.objectId(c) != 0) write(entry, key, index, false, site, c);
    }

    /** The access, with its order as of now. */
    private static void write(UntornEntry entry, Object key, int index, boolean approximate, int site, UntornThread c) {
        boolean reads = (site & UntornRuntime.WRITES) == 0;
        if (reads && UntornShadow.ELIDES) {
            long word = entry.word();
            if (UntornShadow.isReadable(word, c) && isKnown(site, word, key(key, index), c)) return;
        }
        UntornShadow.take(entry, UntornEntry.WORD, site, c);
        if (c.held == entry) record(entry, key(key, index), approximate, site, c);
    }

    /** The access, whose word is held. */
    private static void record(UntornEntry entry, long key, boolean approximate, int site, UntornThread c) {
        if (approximate) c.writePart((long) UntornRecord.APPROXIMATE << UntornRecord.OP_SHIFT | 1);
        if (key != 0) c.writePart((long) UntornRecord.KEY << UntornRecord.OP_SHIFT | key);
        UntornShadow.unlock(entry, site, c);
        if (approximate || UntornMode.FIRST || (site & UntornRuntime.WRITES) != 0) return;
        long access = UntornShadow.access(site, entry.object());
        UntornRepeats.add(access, c);
        if (key != 0) UntornRepeats.add(UntornRepeats.keyed(access, key), c);
    }

    private static long key(Object key, int index) {
        return UntornMode.FIRST ? 0 : UntornKeys.id(key == INDEX ? (Object) index : key);
    }

    // ---- repeated reads -------------------------------------------------------------------------------------------

    /** Whether this thread has just recorded that read; a first run records none. */
    private static boolean isKnown(int site, long word, long key, UntornThread c) {
        if (UntornMode.FIRST) return true;
        return UntornRepeats.has(UntornRepeats.keyed(UntornShadow.access(site, word), key), c);
    }

    /**
     * Whether a call that only reads need hold nothing: it seems to repeat what this thread has just recorded
     * ({@link UntornRepeats}), and nobody else is about to change the object. Its end looks whether somebody did.
     */
    private static boolean repeats(UntornEntry entry, Object content, int site, UntornThread c) {
        if (!UntornShadow.ELIDES || c.repeated != null && c.repeated != entry) return false;
        long word = entry.word(), calls = entry.calls();
        if ((int) calls != 0 || !UntornShadow.isReadable(word, c)) return false;
        if (!isKnown(site, word, 0, c) || !isModelled(content)) return false;
        c.repeatedWord = word;
        c.repeatedCalls = calls;
        c.repeated = entry;
        return true;
    }

    /**
     * The end of such a call, or something else that it read: nothing if all is as it was and this read was recorded before;
     * if it was not, it is now, after all that had changed the object when the call began and before what changes it next.
     * If somebody changed it meanwhile, the order of the two is not known.
     */
    private static void repeated(UntornEntry entry, Object key, int index, boolean approximate, int site, UntornThread c) {
        long id = key(key, index), word = c.repeatedWord, calls = c.repeatedCalls;
        // What the call has read was read before this.
        UntornMemory.U.loadFence();
        if (entry.word() == word && entry.calls() == calls && isKnown(site, word, id, c)) return;
        UntornShadow.abandon(c);
        UntornShadow.take(entry, UntornEntry.WORD, site, c);
        if (c.held != entry) return;
        record(entry, id, approximate || c.before != word || entry.calls() != calls, site, c);
    }
}
