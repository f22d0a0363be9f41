package java.lang;

/** What the recorder keeps for a thread: whether a shadow word is held. */
public final class UntornThread {
    static final ThreadLocal<UntornThread> CURRENT = new ThreadLocal<>();
    /** What inserted code reads and writes itself. */
    public long open, lost, limit;
    public volatile int poll;
    int held;
    boolean waits;
}
