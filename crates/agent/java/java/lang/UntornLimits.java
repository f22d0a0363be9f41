package java.lang;

/**
 * How many numbers of each kind a run may use. Records hold them in so many bits, and none may wrap into another's: whoever
 * comes near the end of a kind says so here, and recording ends when a thread next asks for a segment, with some numbers to
 * spare for what other threads still write. The reader hears why.
 *
 * Tests have fewer of a kind.
 */
final class UntornLimits {
    /** Records of a thread, or in a first run its transactions. */
    static final long POSITIONS = UntornNatives.limit("positions", (1L << UntornRecord.POSITION_BITS) - (1 << 20));
    /** The last thread is nobody. */
    static final long THREADS = UntornNatives.limit("threads", (1L << UntornRecord.THREAD_BITS) - 1);
    static final long OBJECTS = UntornNatives.limit("objects", (1L << UntornRecord.OBJECT_BITS) - (1L << 34));
    static final long LOCKS = UntornNatives.limit("locks", (1L << UntornRecord.LOCK_BITS) - (1 << 24));
    static final long CLASSES = UntornNatives.limit("classes", (1L << 20) - (1 << 12));
    /** Ownership numbers; a thread that gets none owns nothing, and locks words instead: nothing is lost. */
    static final int OWNERS = (int) UntornNatives.limit("owners", (1L << UntornRecord.THREAD_BITS) - 1);

    /** Kinds that come to their end. Numbers, as a text would be a constant to be looked up, where a word may be locked. */
    static final int OF_POSITIONS = 1, OF_THREADS = 2, OF_OBJECTS = 3, OF_LOCKS = 4, OF_CLASSES = 5;
    /** The one that has; 0 for none. */
    private static volatile int over;

    private UntornLimits() {}

    /** There are hardly any numbers of a kind left. Makes no call: a word may be locked. */
    static void reached(int kind) {
        over = kind;
    }

    static boolean areReached() {
        return over != 0;
    }

    /** Ends the recording. */
    static void end() {
        UntornRuntime.stop();
        int kind = over;
        UntornNatives.ranOut(kind == OF_POSITIONS ? "positions" : kind == OF_THREADS ? "threads"
                : kind == OF_OBJECTS ? "objects" : kind == OF_LOCKS ? "locks" : "classes");
    }
}
