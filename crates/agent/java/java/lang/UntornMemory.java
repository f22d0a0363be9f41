package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * The memory that the process shares with the reader, and what all threads have in common there: segments for records, and
 * counters that give out ids. {@code crates/channel/src/layout.rs} defines every number here; a test there compares them.
 */
final class UntornMemory {
    static final Unsafe U = Unsafe.getUnsafe();

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

    static long memory;
    static long segments;
    /** Where threads write whose records nobody wants: racy garbage by design. */
    static long waste;
    /** Guards {@link UntornThreads#contexts}, the chain of exits and the chain of read-shared transitions. */
    static final long GLOBAL_LOCK = U.allocateMemory(8);

    /** A free segment, waiting for one if it must; {@link #NONE} once recording has stopped. */
    static int take() {
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
            UntornEpoch.backOff(Math.min(NAP * tries, LONG_NAP), true);
        }
    }

    static long entry(int segment) {
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
            UntornEpoch.backOff(NAP);
        }
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

    static void globalLock() {
        for (int tries = 1; !U.compareAndSetInt(null, GLOBAL_LOCK, 0, 1); tries++) pause(tries);
    }

    static void globalUnlock() {
        U.putIntRelease(null, GLOBAL_LOCK, 0);
    }
}
