package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * What may be spent on recording objects that one thread alone has touched so far.
 *
 * <p>An object's first user may be in the middle of a region when a second thread comes: a tear that begins with what the
 * first one did is seen only if that was recorded. Most objects never see a second thread, so recording them all costs too
 * much. Each class therefore has so many accesses to objects of one thread recorded, which covers what happens once, and
 * earns more whenever one of its objects is handed over, which covers what happens often. Calls of the library are counted
 * by their sites, as every program uses the same few classes for everything.
 *
 * <p>Counts are plain and threads race on them: what is lost is an access more or less.
 */
final class UntornBudget {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** What classes and sites begin with, and what a hand-over earns. */
    private static final int CLASS = 2048, SITE = 256, EARNED = 256;

    /** In a class: what it has spent, and the bits that its new objects take over from their thread's word. */
    private static final long SPENT = U.objectFieldOffset(Class.class, "$untornSpent");
    private static final long BORN = U.objectFieldOffset(Class.class, "$untornBorn");

    /** What sites have spent. Replaced when it grows. */
    private static volatile int[] sites = new int[1024];

    static {
        // The constructors of collections and atomics ask the class of all objects whether there is a runtime.
        if (UntornShadow.OPTIMISTIC) U.putLong(Object.class, BORN, -1);
    }

    private UntornBudget() {}

    /**
     * Whether another access to an object of this class is recorded although one thread alone has touched it.
     * The class is asked for beforehand: the interpreter calls a native method for that, which is a safe point.
     */
    static boolean covers(Class<?> k) {
        if (UntornMode.FIRST) return false;
        int spent = U.getInt(k, SPENT);
        if (spent >= CLASS) return false;
        U.putInt(k, SPENT, spent + 1);
        // New objects are their thread's alone from now on, without a record.
        if (spent + 1 == CLASS) U.putLong(k, BORN, -1);
        return true;
    }

    /** The bits of its thread's word that a new object takes over: all, or none while its class can afford records. */
    static long born(Class<?> k) {
        return U.getLong(k, BORN);
    }

    /** An object that one thread alone had touched came to another one. */
    static void earn(Class<?> k) {
        if (UntornMode.FIRST) return;
        U.putInt(k, SPENT, Math.max(0, U.getInt(k, SPENT) - EARNED));
        U.putLong(k, BORN, 0);
    }

    /** Whether another call at that site is recorded although one thread alone has used its object. */
    static boolean covers(int site) {
        if (UntornMode.FIRST) return false;
        int number = site & UntornRecord.SITE_MASK;
        int[] spent = sites;
        if (number >= spent.length) spent = grown(number);
        return spent != null && spent[number] < SITE && spent[number]++ < SITE;
    }

    @DontInline
    private static int[] grown(int number) {
        UntornThread.probe();
        try {
            int[] made = new int[Math.max(number + 1, sites.length * 2)];
            System.arraycopy(sites, 0, made, 0, sites.length);
            sites = made;
            return made;
        } catch (VirtualMachineError noMemory) {
            return null;
        }
    }
}
