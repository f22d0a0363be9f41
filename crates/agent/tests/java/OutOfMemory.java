import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that share what one monitor guards, while there is no memory most of the time: every allocation fails now and then,
 * also those of who watches. Nothing here can be torn. Argument: how many errors to see before the end.
 */
public class OutOfMemory {
    static final class Node {
        int value;
        Node next;
    }

    int a, b;
    Node nodes;
    final Map<String, Integer> map = new HashMap<>();
    final List<Object> list = new ArrayList<>();
    final AtomicInteger atomic = new AtomicInteger();
    final ReentrantLock lock = new ReentrantLock();
    static final Map<Object, Integer> CONCURRENT = new ConcurrentHashMap<>();
    static int total;
    static volatile boolean done;
    static final AtomicInteger ERRORS = new AtomicInteger();
    /** Made while there is memory, by no means that links anything later: a class of the platform that fails to initialize stays so. */
    static final String[] KEYS = new String[500];

    synchronized void change(int round) {
        int before = a;
        a = before + 1;
        Node node = new Node();
        node.value = round;
        node.next = round % 64 == 0 ? null : nodes;
        nodes = node;
        map.put(KEYS[round % KEYS.length], round);
        atomic.set(atomic.get() + 1);
        if (list.size() > 50) list.clear();
        list.add(new Object());
        lock.lock();
        try {
            total++;
        } finally {
            lock.unlock();
        }
        b = a;
    }

    synchronized int look() {
        // What failed in the middle is no tear.
        b = a;
        return map.size() + list.size() + atomic.get() + (nodes == null ? 0 : nodes.value);
    }

    void own(int round) {
        Object lock = new Object();
        synchronized (lock) {
            CONCURRENT.put(round % 97L, round);
        }
        synchronized (this) {
            a++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int wanted = Integer.parseInt(arguments[0]);
        for (int i = 0; i < KEYS.length; i++) KEYS[i] = Integer.toString(i);
        OutOfMemory shared = new OutOfMemory();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                for (int round = 0; !done; round++) {
                    try {
                        if (number == 0) shared.look();
                        else shared.change(round);
                        shared.own(round);
                    } catch (OutOfMemoryError expected) {
                        ERRORS.incrementAndGet();
                    } catch (LinkageError expected) {
                        ERRORS.incrementAndGet();
                        // Classes of the platform that could not be initialized then never can; those of who watches must.
                        if (expected.toString().contains("Untorn")) throw expected;
                    }
                }
            });
            threads[i].setUncaughtExceptionHandler((thread, error) -> {
                if (error instanceof OutOfMemoryError) {
                    ERRORS.incrementAndGet();
                    return;
                }
                error.printStackTrace();
                Runtime.getRuntime().halt(4);
            });
            threads[i].start();
        }
        long begun = System.nanoTime();
        int rounds = 0;
        // On a busy machine a few errors are enough, but there must be one.
        while (ERRORS.get() < wanted && System.nanoTime() - begun < (ERRORS.get() == 0 ? 60 : 2) * 1_000_000_000L) {
            Object[] hog = null;
            try {
                // Halves fill what is left, down to the last bytes.
                for (int size = 1 << 16; size > 0; ) {
                    try {
                        Object[] more = new Object[size];
                        more[0] = hog;
                        hog = more;
                    } catch (OutOfMemoryError full) {
                        size /= 2;
                    }
                }
                long until = System.nanoTime() + 3_000_000;
                while (System.nanoTime() < until) Thread.onSpinWait();
            } catch (OutOfMemoryError full) {
                // Next time.
            }
            hog = null;
            rounds++;
        }
        done = true;
        for (Thread thread : threads) {
            thread.join(60_000);
            if (thread.isAlive()) Runtime.getRuntime().halt(3);
        }
        shared.look();
        System.out.println(Integer.toString(ERRORS.get()).concat(" errors in ").concat(Integer.toString(rounds)).concat(" rounds"));
        if (ERRORS.get() == 0) Runtime.getRuntime().halt(5);
    }
}
