package java.lang;

import static java.lang.UntornMemory.*;

/**
 * How the runtime starts, and the options that it starts with.
 */
final class UntornBoot {
    /** The options of {@link #boot}. */
    static final int OPTIMISTIC = 1, ELIDES = 2;
    static final int FIRST = 4, SECOND = 8, UNARY = 16, LONE_LOCKS = 32, STEERED = 64;
    private static final int ALL_OPTIONS = 127;
    private static int options;

    static boolean hasOption(int option) {
        return (options & option) != 0;
    }

    static boolean isOptimistic() {
        return (options & OPTIMISTIC) != 0;
    }

    static boolean elides() {
        return (options & ELIDES) != 0;
    }

    /** The address of the shared memory; pages are aligned, so its low bits are options. */
    static void boot(long addressAndOptions) {
        options = (int) addressAndOptions & ALL_OPTIONS;
        long address = addressAndOptions - options;
        U.putInt(GLOBAL_LOCK, 0);
        // Threads that share a context may each be one event beyond the end of a segment.
        waste = U.allocateMemory(SEGMENT_BYTES + 1024 * EVENT_BYTES);
        segments = address + U.getLong(address + CONTROL_SEGMENTS_AT);
        memory = address;
        U.ensureClassInitialized(UntornMemory.class);
        U.ensureClassInitialized(UntornThreads.class);
        U.ensureClassInitialized(UntornThread.class);
        U.ensureClassInitialized(UntornStack.class);
        U.ensureClassInitialized(UntornLimits.class);
        U.ensureClassInitialized(UntornMode.class);
        U.ensureClassInitialized(UntornShadow.class);
        U.ensureClassInitialized(UntornWords.class);
        U.ensureClassInitialized(UntornArrays.class);
        U.ensureClassInitialized(UntornOwner.class);
        U.ensureClassInitialized(UntornEpoch.class);
        U.ensureClassInitialized(UntornBudget.class);
        U.ensureClassInitialized(UntornRepeats.class);
        U.ensureClassInitialized(UntornSync.class);
        U.ensureClassInitialized(UntornCalls.class);
        U.ensureClassInitialized(UntornPlaces.class);
        U.ensureClassInitialized(UntornTable.class);
        U.ensureClassInitialized(UntornEntry.class);
        U.ensureClassInitialized(UntornLocks.class);
        U.ensureClassInitialized(UntornViews.class);
        U.ensureClassInitialized(UntornReads.class);
        U.ensureClassInitialized(UntornWord.class);
        U.ensureClassInitialized(UntornRef.class);
        U.ensureClassInitialized(UntornKeys.class);
        U.ensureClassInitialized(UntornFields.class);
        U.ensureClassInitialized(UntornStop.class);
        if (UntornMode.STEERED) {
            U.ensureClassInitialized(UntornSteer.class);
            U.ensureClassInitialized(UntornNeeds.class);
        }
    }
}
