package java.lang;

/** What only the agent can do or knows; {@code crates/agent/src/natives.rs} has the bodies. */
final class UntornNatives {
    private UntornNatives() {}

    /** Sleeps about so many microseconds without going through the thread's scheduler; for room in the log, or another thread. */
    static native void nap(int micros, boolean forRoom);

    /** Whether a thread is in native code or waits for a monitor, at some moment after all that happened before the call. */
    static native boolean isAway(Thread thread);

    /** Holds a thread if it is in no code of ours and waits for no monitor; where it is: see {@link UntornStop}. */
    static native int hold(Thread thread, boolean onlyIfItWaits);

    /** Lets it go on. */
    static native void goOn(Thread thread);

    /** Has the JVM throw something into a thread, wherever that is. */
    static native void throwInto(Thread thread, Object death);

    /** How many numbers of a kind there are: so many, or fewer in a test. */
    static native long limit(String kind, long most);

    /** Tells the reader that recording ends, as a kind of number has come to its end. */
    static native void ranOut(String kind);

    /** Counts an object that is tracked no more. */
    static native void untracked();

    /** Counts objects that came to a second thread and were not recorded before. */
    static native void handedOver(int objects);

    /** Tells the reader a thread's name; whether nothing is a region in threads of this name. */
    static native boolean nameThread(int thread, String name);

    /** Tells the reader a class's name; class ids are handed out here, apart from the rewriter's. */
    static native void nameClass(int id, String name);

    /** Tells the reader the text of a key. */
    static native void nameKey(long id, String text);

    /** The class that the field reference of a site names, with dots, and the field's name. */
    static native String siteClass(int site);

    static native String siteField(int site);

    /** The static field that one turned out to be: a reference may name a class that inherits it. */
    static native int sameField(int field);

    /** The names of the fields that a class declares, a line each, but for those that share one; null if they are not watched. */
    static native String declares(Class<?> k, boolean isStatic);

    /** The number of one of these fields, as it is declared to the reader; -1 if there is none. */
    static native int field(Class<?> k, String name, boolean isStatic);

    /** A static field of an initialized class as reflection has it; null if there is none of that name and type. */
    static native Object staticField(Class<?> k, String name, String descriptor);

    /** The plans of a steered run as numbers: see {@link UntornSteer}. */
    static native String steering();

    /** Counts what became of a pause. */
    static native void steered(int plan, int point, int what);

    /** What a thread waits for, in bits of JVM TI; 0 if that is not known. */
    static native int threadState(Thread thread);

    /** The monitor that a thread is about to enter or waits on. */
    static native Object blockedOn(Thread thread);
}
