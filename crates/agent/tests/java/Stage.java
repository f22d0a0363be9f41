import java.util.concurrent.locks.LockSupport;

/** Makes the threads of a generated program take their steps in a given order; not watched, so it orders nothing in the log. */
public final class Stage {
    private static volatile int next;
    private static volatile Thread[] threads = {};
    private static volatile Object[] slots;

    private Stage() {}

    /** Runs a program: its threads share what is in the slots, and take the steps with their numbers, from 0 on. */
    public static void play(Object[] props, Runnable... parts) throws InterruptedException {
        next = 0;
        slots = props;
        Thread[] cast = new Thread[parts.length];
        for (int i = 0; i < cast.length; i++) cast[i] = new Thread(parts[i]);
        threads = cast;
        for (Thread thread : cast) thread.start();
        for (Thread thread : cast) thread.join();
    }

    /** Returns when it is that step's turn. */
    public static void at(int step) {
        while (next != step) LockSupport.park();
    }

    /** The step is done. */
    public static void done() {
        next++;
        for (Thread thread : threads) LockSupport.unpark(thread);
    }

    public static Object get(int slot) {
        return slots[slot];
    }

    public static void put(int slot, Object value) {
        slots[slot] = value;
    }
}
