import java.util.HashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** One thread whose events are known. */
public class Events {
    int plain;
    volatile long wide;
    static double total;
    final Object lock = "lock";
    int[] cells = {1, 2};

    static class Other {
        static int count;
    }

    Events() {
        plain = 1;
    }

    synchronized int method() {
        return plain;
    }

    void block(boolean fail) {
        synchronized (lock) {
            wide = 2;
            if (fail) throw new IllegalStateException();
        }
    }

    static synchronized void ofClass() {
        total += 1;
    }

    void waits() throws InterruptedException {
        synchronized (lock) {
            lock.wait(1);
            lock.notifyAll();
        }
    }

    int missing(Events none) {
        try {
            return none.plain;
        } catch (NullPointerException e) {
            return 0;
        }
    }

    void library() throws InterruptedException {
        ReentrantLock mutex = new ReentrantLock();
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        Condition ready = mutex.newCondition();
        mutex.lock();
        ready.awaitNanos(1);
        ready.signal();
        mutex.unlock();
        both.readLock().lock();
        both.writeLock().tryLock();
        both.readLock().unlock();
        HashMap<String, Integer> map = new HashMap<>();
        map.put("k", 1);
        map.computeIfAbsent("l", k -> 2);
        map.size();
        new AtomicInteger(4).incrementAndGet();
        new AtomicIntegerArray(3).get(2);
        try {
            map.merge("k", 1, null);
        } catch (NullPointerException e) {
            mutex.tryLock();
        }
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("untorn.record", "on");
        start(args);
    }

    static void start(String[] args) throws Exception {
        Events e = new Events();
        switch (args[0]) {
            case "fields": e.plain += 3; Other.count = e.plain; total = e.wide; break;
            case "arrays": e.cells[1] = e.cells[0]; try { e.cells[5]++; } catch (ArrayIndexOutOfBoundsException x) { } break;
            case "methods": e.method(); ofClass(); break;
            case "blocks": e.block(false); try { e.block(true); } catch (IllegalStateException x) { } break;
            case "waits": e.waits(); break;
            case "missing": e.missing(null); break;
            default: e.library();
        }
    }
}
