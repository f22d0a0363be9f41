package java.lang;

/** A plan of a steered run, and what has become of it: see {@link UntornSteer}. Racy counts are good enough: they only bound waits. */
final class UntornPlan {
    final int number;
    /** Where to pause: the number of a place, or the count of an access as a negative number. */
    final int[] points;
    /** Whether every execution pauses, however often nobody came. */
    final boolean always;
    /** Nanoseconds that the next pause may last; less after each in which nobody came. */
    volatile long patience;
    /** The same for partners that come first. */
    volatile long partnersPatience;

    /** The thread that pauses; what it has accessed was written before. */
    volatile UntornThread pauser;
    /** The thread that came to a conflicting access meanwhile, and in which of its outermost regions it was. */
    volatile UntornThread partner;
    int partnersRegion;

    /** How many pauses have ended: the next one is at the point of that number, in turns. */
    volatile int turn;
    /** How many executions are left alone before the next pause, and how many come before the pause after that. */
    volatile int skips, nextSkips;
    /** The same for partners. */
    volatile int partnersSkips, nextPartnersSkips;
    /** Nanoseconds that threads have waited for this plan. */
    volatile long spent;
    /** How often a partner came. */
    volatile int met;
    /** Whether a partner was found to need a lock that the region's thread takes in the region. */
    volatile boolean needsLock;

    UntornPlan(int number, long patience, int[] points) {
        this.number = number;
        this.always = patience < 0;
        this.patience = Math.abs(patience);
        this.partnersPatience = Math.abs(patience);
        this.points = points;
    }
}
