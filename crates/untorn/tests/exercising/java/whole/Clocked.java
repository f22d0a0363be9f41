package whole;


/** Every operation is one step; what callers see depends on time. */
public class Clocked {
    private final long born = System.nanoTime();
    private long last = born;
    private int value;

    /** Slow if something else took the processor meanwhile. */
    public synchronized String measure() {
        long begun = System.nanoTime();
        value++;
        for (int i = 0; i < 20; i++) value += i % 2 == 0 ? 1 : -1;
        long took = System.nanoTime() - begun;
        return took > 1_000_000 ? "slow" : took > 100_000 ? "middling" : "fast";
    }

    public synchronized void set(int to) {
        value = to;
        last = System.nanoTime();
    }

    /** Forgets what is older than two milliseconds. */
    public synchronized int get() {
        return System.nanoTime() - last > 2_000_000 ? 0 : value;
    }

    public synchronized boolean isOld() {
        return System.nanoTime() - born > 5_000_000;
    }

    public synchronized long seconds() {
        return System.currentTimeMillis() / 50;
    }
}
