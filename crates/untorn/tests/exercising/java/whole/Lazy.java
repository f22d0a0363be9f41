package whole;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Caches that fill themselves: whoever is first, callers get the same. */
public class Lazy {
    private static final Map<String, String> SHARED = new ConcurrentHashMap<>();
    private static final AtomicInteger USES = new AtomicInteger();
    private volatile String text;
    private int hash;
    private volatile int seed = 1;

    public int hash() {
        int known = hash;
        if (known == 0) {
            for (int i = 0; i < 5; i++) known = 31 * known + i;
            hash = known;
        }
        return known;
    }

    public String text() {
        if (text == null) {
            synchronized (this) {
                if (text == null) text = "made of " + hash();
            }
        }
        return text;
    }

    public String shared(String key) {
        String known = SHARED.get(key);
        if (known == null) {
            SHARED.putIfAbsent(key, key + "!");
            known = SHARED.get(key);
        }
        return known;
    }

    /** Every third use in the whole process says so. */
    public boolean isThird() {
        return USES.incrementAndGet() % 3 == 0;
    }

    /** True from the thousandth use on. */
    public boolean isWorn() {
        return USES.incrementAndGet() > 1000;
    }

    public synchronized void set(int to) {
        seed = to;
    }

    public synchronized int get() {
        return seed;
    }
}
