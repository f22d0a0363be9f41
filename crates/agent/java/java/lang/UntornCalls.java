package java.lang;

/**
 * Accesses that library calls make to what an object holds: a collection's entry or the whole, an atomic's value.
 *
 * A call that neither blocks nor calls back is one step: its receiver's shadow word stays locked until its record is
 * written. Any other call is an interval whose record is written at its end; if another call on the same receiver ran
 * in between, their order is unknown and the record says so. A first run writes no records, so there an interval is its
 * end, and so is everywhere what is approximate by itself.
 */
final class UntornCalls {
    private UntornCalls() {}

    static void begin(Object receiver, int mode, int site, UntornThread c) {
        if (UntornMode.FIRST && mode != UntornRuntime.STEP) return;
        if (c.silent || UntornMode.SECOND && c.skip || UntornPlaces.isPrivate(receiver, site, c)) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(receiver, c);
        if (entry == null || entry.objectId(c) == 0) return;
        if (mode == UntornRuntime.STEP) {
            UntornShadow.take(entry, UntornEntry.WORD, site, c);
        } else {
            c.pushCall(entry);
        }
    }

    static void end(Object receiver, Object key, int mode, int site, UntornThread c) {
        if (mode == UntornRuntime.LOOSE || UntornMode.FIRST && mode != UntornRuntime.STEP) {
            only(receiver, key, site, c);
            return;
        }
        if (c.silent || UntornMode.SECOND && c.skip || UntornPlaces.isPrivateStill(receiver, c)) return;
        if (mode == UntornRuntime.STEP && c.held instanceof UntornEntry) {
            writeKey(key, c);
            UntornShadow.unlock(c.held, site, c);
            return;
        }
        UntornShadow.abandon(c);
        if (mode == UntornRuntime.INTERVAL && c.isInCall(receiver)) {
            for (;;) {
                UntornEntry entry = c.topCall();
                boolean overlapped = entry.endCall(c.popCall());
                // Calls above this one were left without an end.
                if (!entry.refersTo(receiver)) continue;
                write(entry, key, overlapped, site, c);
                return;
            }
        }
        if (!UntornRuntime.on) return;
        // It called back after all, and what it called took the word away; or the object was private when it began.
        UntornEntry entry = UntornTable.find(receiver, c);
        if (entry != null && entry.objectId(c) != 0) write(entry, key, true, site, c);
    }

    /** A call of which only the end counts. */
    private static void only(Object receiver, Object key, int site, UntornThread c) {
        if (!UntornRuntime.on || c.silent || UntornMode.SECOND && c.skip) return;
        if (UntornPlaces.isPrivate(receiver, site, c)) return;
        UntornShadow.abandon(c);
        UntornEntry entry = UntornTable.find(receiver, c);
        if (entry != null && entry.objectId(c) != 0) write(entry, key, false, site, c);
    }

    /** The access, with its order as of now. */
    private static void write(UntornEntry entry, Object key, boolean approximate, int site, UntornThread c) {
        UntornShadow.take(entry, UntornEntry.WORD, site, c);
        if (c.held != entry) return;
        if (approximate) c.write((long) UntornThread.APPROXIMATE << UntornThread.OP_SHIFT | 1);
        writeKey(key, c);
        UntornShadow.unlock(entry, site, c);
    }

    private static void writeKey(Object key, UntornThread c) {
        if (UntornMode.FIRST) return;
        long id = UntornKeys.id(key);
        if (id != 0) c.write((long) UntornThread.KEY << UntornThread.OP_SHIFT | id);
    }
}
