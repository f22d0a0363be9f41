package java.lang;

import java.util.ArrayList;
import java.util.List;

/**
 * Stands in for the runtime in tests: writes down which entry points were called, with which sites.
 * It is on in the first thread that comes here after the property {@code untorn.record} was set, and prints what it has at the end.
 */
public final class UntornRuntime {
    private static List<String> events;
    private static Thread recorded;

    private UntornRuntime() {}

    public static UntornThread context(boolean polls) {
        if (events == null && System.getProperty("untorn.record") != null) {
            events = new ArrayList<>();
            recorded = Thread.currentThread();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                for (String event : events) System.err.println(event);
            }));
        }
        UntornThread c = UntornThread.CURRENT.get();
        if (c == null) UntornThread.CURRENT.set(c = new UntornThread());
        return c;
    }

    static void event(String text) {
        if (events != null && Thread.currentThread() == recorded) events.add(text);
    }

    private static String name(Object o) {
        return o == null ? "null" : o instanceof String ? (String) o : o instanceof Class
            ? ((Class<?>) o).getName() : o.getClass().getSimpleName();
    }

    private static void take(UntornThread c) {
        if (++c.held > 1) event("error: two words held");
    }

    private static void free(UntornThread c, int site) {
        if (c.held == 0) event("error: no word held");
        else c.held--;
        event("access " + (site & (1 << 25) - 1) + ((site & 1 << 30) != 0 ? " writes" : ""));
    }

    public static void lock(Object o, int site, UntornThread c) {
        if (o != null) take(c);
    }

    public static void unlock(Object o, int site, UntornThread c) {
        if (o != null) free(c, site);
    }

    public static void abandon(Object o, UntornThread c) {
        if (o != null) abandonStatic(0, c);
    }

    public static void lockStatic(int field, int site, UntornThread c) {
        take(c);
    }

    public static void unlockStatic(int field, int site, UntornThread c) {
        free(c, site);
    }

    public static void abandonStatic(int field, UntornThread c) {
        event(c.held > 0 ? "abandoned" : "nothing to abandon");
        c.held = 0;
    }

    public static void lockArray(Object array, int index, int site, UntornThread c) {
        if (array != null && index >= 0 && index < java.lang.reflect.Array.getLength(array)) take(c);
    }

    public static void unlockArray(Object array, int index, int site, UntornThread c) {
        event("element " + index);
        free(c, site);
    }

    public static void entering(Object lock, UntornThread c) {}

    public static void at(int site, UntornThread c) {}

    public static void acquired(Object lock, int site, UntornThread c) {
        event("acquired " + name(lock) + (Thread.holdsLock(lock) ? "" : " error: not held"));
    }

    public static void releasing(Object lock, int site, long mark, UntornThread c) {
        event("releasing " + name(lock) + (Thread.holdsLock(lock) ? "" : " error: not held"));
    }

    public static void releasingLast(Object lock, int site, UntornThread c) {
        releasing(lock, site, 0, c);
    }

    public static boolean initializing(UntornThread c) {
        event("initializing");
        return true;
    }

    public static void initialized(boolean inside, UntornThread c) {
        event("initialized" + (inside ? "" : " error: not begun"));
    }

    public static void waiting(Object lock, int site, UntornThread c) {
        if (lock == null || !Thread.holdsLock(lock) && !(lock instanceof java.util.concurrent.locks.Condition)) return;
        c.waits = true;
        event("waiting " + name(lock));
    }

    public static void woken(Object lock, int site, UntornThread c) {
        if (c.waits) event("woken " + name(lock));
        c.waits = false;
    }

    public static void notifying(Object lock, int site, UntornThread c) {
        event("notifying " + name(lock));
    }

    public static void begin(int region, UntornThread c) {
        event("begin " + (region & (1 << 28) - 1));
    }

    public static void end(int region, long mark, UntornThread c) {
        event("end " + (region & (1 << 28) - 1));
    }

    /** What it means for regions is the real runtime's business. */
    public static void waits(int number, UntornThread c) {}

    public static void enter(int method, UntornThread c) {
        event("enter " + method);
    }

    public static void exit(int method, UntornThread c) {
        event("exit " + method);
    }

    public static void watchLock(Object lock, int site, UntornThread c) {
        event("lock " + name(lock));
    }

    public static void reserve() {}

    public static void signal(Object synchronizer, int site, UntornThread c) {
        event("signal " + name(synchronizer));
    }

    public static void await(Object synchronizer, int site, UntornThread c) {
        event("await " + name(synchronizer));
    }

    public static boolean callBegin(Object receiver, int mode, int site, UntornThread c) {
        if (receiver == null) return false;
        if ((mode & 3) == 0) take(c);
        event("call " + name(receiver));
        return true;
    }

    public static void callAlso(Object receiver, int of, int site, UntornThread c) {
        if (receiver == null) return;
        event("also " + name(receiver));
        event("access " + (site & (1 << 25) - 1) + ((site & 1 << 30) != 0 ? " writes" : ""));
    }

    public static void callEndAt(Object receiver, int index, int mode, int site, UntornThread c) {
        callEnd(receiver, index, mode, site, c);
    }

    public static void callEnd(Object receiver, Object key, int mode, int site, UntornThread c) {
        if (receiver == null) return;
        event(((mode & 4) != 0 ? "reading " : "") + ((mode & 3) == 0 ? "step " : (mode & 3) == 1 ? "interval " : "loose ") + name(receiver) + "[" + (key == null ? "" : key) + "]");
        if ((mode & 3) == 0) free(c, site);
        else event("access " + (site & (1 << 25) - 1) + ((site & 1 << 30) != 0 ? " writes" : ""));
    }

    public static long handleBegin(Object o, Object handle, int index, int mode, int site, UntornThread c) {
        if (handle == null) return 0;
        if ((mode & 3) == 0) take(c);
        event("handle of " + name(o));
        return 1;
    }

    public static void handleEnd(Object o, Object handle, int index, int mode, int site, long begun, UntornThread c) {
        if (begun != 1) event("error: not begun");
        event(((mode & 4) != 0 ? "reading " : "") + ((mode & 3) == 0 ? "step " : "interval ") + name(o) + (index >= 0 ? "[" + index + "]" : ""));
        if ((mode & 3) == 0) free(c, site);
        else event("access " + (site & (1 << 25) - 1) + ((site & 1 << 30) != 0 ? " writes" : ""));
    }

    public static void handleThrew(Object content, int mode, int site, UntornThread c) {
        event("threw " + name(content));
        if ((mode & 3) == 0) c.held = 0;
    }

    public static void callThrew(Object receiver, int read, int mode, int site, UntornThread c) {
        if (receiver == null) return;
        event("threw " + name(receiver));
        if ((mode & 3) == 0) c.held = 0;
    }
}
