package java.lang;

/** What the recorder keeps of calls by the platform, and of those that stand for one. */
public final class UntornHooks {
    private UntornHooks() {}

    public static void sleeping() {
        UntornRuntime.event("sleeping");
    }
}
