package java.lang;


/**
 * Records are 8 bytes, never zero, written with release stores into segments of shared memory; the reader takes them up
 * to the first zero. {@code crates/channel/src/record.rs} defines every number here; a test there compares them.
 */
final class UntornRecord {
    static final long ACCESS = 1L << 63;
    static final int OBJECT_BITS = 38, SITE_BITS = 25, THREAD_BITS = 22, POSITION_BITS = 36, LOCK_BITS = 33;
    static final int OP_SHIFT = 58;
    static final int SITE_MASK = (1 << SITE_BITS) - 1;
    static final int EDGE = 1, ACQUIRE = 2, RELEASE = 3, ACQUIRE_SHARED = 4, RELEASE_SHARED = 5, WAIT = 6, WAKE = 7,
            NOTIFY = 8, SIGNAL = 9, AWAIT = 10, FORK = 11, JOIN = 12, BEGIN = 13, END = 14, ENTER = 15, EXIT = 16,
            ELEMENT = 17, KEY = 18, APPROXIMATE = 19, NEW_LOCK = 20, NEW_CLASS_LOCK = 21, NEW_OBJECT = 22,
            OWNED = 23, IN = 24, FROM = 25, GONE_LOCK = 26, GONE_OBJECT = 27, UNWOUND = 28, INITIALIZER = 29,
            FIELD = 30;
    /** Kinds of {@link #UNWOUND}, above the operand: so many regions, or a monitor. */
    static final long UNWOUND_MONITOR = 1L << LOCK_BITS;
    /** Kinds of {@link #INITIALIZER}. */
    static final long INITIALIZER_BEGINS = 1, INITIALIZER_ENDS = 2;
    /** In {@link #FIELD}, above the operand: the field is static. */
    static final long FIELD_STATIC = 1L << 32;
    /** Regions in the records of a first run, from 1; 0 is outside of all. */
    static final int REGION_BITS = 22;
}
