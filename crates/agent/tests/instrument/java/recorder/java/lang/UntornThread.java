package java.lang;

/** What the recorder keeps for a thread: whether a shadow word is held. */
public final class UntornThread {
    static final ThreadLocal<UntornThread> CURRENT = new ThreadLocal<>();
    int held;
    boolean waits;
}
