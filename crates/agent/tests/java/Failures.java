import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Uses everything that the runtime has something to do for, while allocations of the runtime fail, or its look for enough
 * stack does. One monitor guards what is shared, so that nothing can be torn. Argument: "allocations", of which nobody may
 * notice anything, or "stack", of which any call may throw.
 */
public class Failures {
    static final class Node {
        int value;
        Node next;
    }

    int a, b;
    Node nodes;
    final int[] cells = new int[8];
    final Map<String, Integer> map = new HashMap<>();
    final List<Object> list = new ArrayList<>();
    final AtomicInteger atomic = new AtomicInteger();
    final ReentrantLock lock = new ReentrantLock();
    final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    final StampedLock stamped = new StampedLock();
    static final Map<Object, Integer> CONCURRENT = new ConcurrentHashMap<>();
    static final AtomicInteger ERRORS = new AtomicInteger();

    synchronized void change(int round) {
        a = b + 1;
        Node node = new Node();
        node.value = round;
        node.next = round % 16 == 0 ? null : nodes;
        nodes = node;
        map.put(Integer.toString(round % 300), round);
        for (Iterator<String> keys = map.keySet().iterator(); keys.hasNext(); ) {
            if (keys.next().length() > 2 && round % 64 == 0) keys.remove();
        }
        atomic.set(atomic.get() + 1);
        if (list.size() > 50) list.clear();
        list.add(new Object());
        cells[round & 7]++;
        b = a;
    }

    synchronized int look() {
        b = a;
        return map.size() + list.size() + atomic.get() + (nodes == null ? 0 : nodes.value) + cells[0];
    }

    /** Each monitor and lock is another one, so that the runtime has to remember ever new ones. */
    void own(int round) {
        Object monitor = new Object();
        synchronized (monitor) {
            CONCURRENT.put(round % 97L, round);
        }
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    void locks() {
        lock.lock();
        try {
            both.readLock().lock();
            try {
                long stamp = stamped.readLock();
                stamped.unlockRead(stamp);
            } finally {
                both.readLock().unlock();
            }
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] arguments) throws Exception {
        boolean stack = arguments[0].equals("stack");
        int rounds = Integer.parseInt(arguments[1]);
        Failures shared = new Failures();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    try {
                        if (number == 0) shared.look();
                        else shared.change(round);
                        shared.own(round);
                        // What throws after it took a lock leaves it locked, as without the agent.
                        if (!stack) shared.locks();
                        if (round % 100 == 0) join(shared);
                    } catch (VirtualMachineError injected) {
                        if (!stack || !"injected".equals(injected.getMessage())) {
                            injected.printStackTrace();
                            Runtime.getRuntime().halt(6);
                        }
                        ERRORS.incrementAndGet();
                    }
                }
            });
            start(threads[i]);
        }
        for (Thread thread : threads) {
            await(thread);
            if (thread.isAlive()) {
                for (StackTraceElement frame : thread.getStackTrace()) System.err.println(frame);
                Runtime.getRuntime().halt(3);
            }
        }
        // Nobody is kept from anything.
        Thread last = new Thread(() -> {
            for (int i = 0; i < 50; i++) {
                try {
                    shared.look();
                    shared.own(i);
                } catch (StackOverflowError injected) {
                    // The next one works.
                }
            }
        });
        start(last);
        await(last);
        if (last.isAlive()) Runtime.getRuntime().halt(5);
        if (stack && ERRORS.get() == 0) Runtime.getRuntime().halt(7);
        Runtime.getRuntime().halt(0);
    }

    static void start(Thread thread) {
        while (thread.getState() == Thread.State.NEW) {
            try {
                thread.start();
            } catch (StackOverflowError injected) {
                // Once more.
            }
        }
    }

    /** Waits for the end of a thread, for two minutes at most. */
    static void await(Thread thread) throws InterruptedException {
        long until = System.nanoTime() + 120_000_000_000L;
        while (thread.isAlive() && System.nanoTime() < until) {
            try {
                thread.join(1000);
            } catch (StackOverflowError injected) {
                // Once more.
            }
        }
    }

    /** A thread that comes and goes. */
    static void join(Failures shared) {
        Thread thread = new Thread(shared::look);
        thread.setUncaughtExceptionHandler((of, error) -> ERRORS.incrementAndGet());
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }
}
