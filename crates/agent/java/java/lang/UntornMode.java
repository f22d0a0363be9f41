package java.lang;

/**
 * Which of the runs of a multi-run analysis this is (sections 3.1 and 4 of the DoubleChecker paper).
 *
 * <p>A <em>first</em> run records neither accesses nor regions: a thread only counts its transactions, outermost regions
 * and what lies between them, in the place of its position in the log. Where another run would order records by an edge,
 * a first run logs between which transactions it leads, each with its region.
 * A <em>second</em> run records only transactions whose region was chosen, and what is outside of regions if it was.
 *
 * <p>Constants for the JIT; initialized once the options are known, and not used before.
 */
final class UntornMode {
    static final boolean FIRST = UntornBoot.hasOption(UntornBoot.FIRST);
    static final boolean SECOND = UntornBoot.hasOption(UntornBoot.SECOND);
    /** Whether a second run records what is outside of regions. */
    static final boolean UNARY = UntornBoot.hasOption(UntornBoot.UNARY);
    /** Whether locks that one thread alone has used go unrecorded: nobody asks which locks are held. */
    static final boolean LONE_LOCKS = UntornBoot.hasOption(UntornBoot.LONE_LOCKS);
    /** Whether threads are held up: see {@link UntornSteer}. */
    static final boolean STEERED = UntornBoot.hasOption(UntornBoot.STEERED);
    /** Added by the rewriter to the number of a region that a second run records. */
    static final int CHOSEN = 1 << 30;
    /** Added to that of a region which is meant to be one step even where its thread waits. */
    static final int WHOLE = 1 << 29;
    /** Added to that of a region which nobody but a rule of thumb proposes: see {@link UntornThread#retire}. */
    static final int GUESS = 1 << 28;
    /** The number itself. */
    static final int NUMBER = GUESS - 1;

    private UntornMode() {}
}
