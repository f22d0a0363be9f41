import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Locks of every kind, nested and contended; each kernel has one result, whatever the schedule. */
public final class Kernels {
    private static final int ROUNDS = 300;
    private final Object first = new Object();
    private final Object second = new Object();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition filled = lock.newCondition();
    private final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    private final Semaphore permit = new Semaphore(1);
    private final ArrayDeque<Integer> queue = new ArrayDeque<>();
    private long nested, explicit, shared, permitted, taken;

    void nest() {
        synchronized (first) {
            long before = nested;
            synchronized (second) {
                nested = before + 1;
            }
        }
    }

    void explicit() {
        lock.lock();
        try {
            explicit = explicit + 1;
        } finally {
            lock.unlock();
        }
    }

    long share(boolean write) {
        if (!write) {
            both.readLock().lock();
            try {
                return shared;
            } finally {
                both.readLock().unlock();
            }
        }
        both.writeLock().lock();
        try {
            return shared = shared + 1;
        } finally {
            both.writeLock().unlock();
        }
    }

    void permit() {
        permit.acquireUninterruptibly();
        try {
            permitted = permitted + 1;
        } finally {
            permit.release();
        }
    }

    void put(int value) {
        lock.lock();
        try {
            queue.add(value);
            filled.signal();
        } finally {
            lock.unlock();
        }
    }

    void take() throws InterruptedException {
        lock.lock();
        try {
            while (queue.isEmpty()) {
                filled.await();
            }
            taken += queue.poll();
        } finally {
            lock.unlock();
        }
    }

    private void work(boolean produces) {
        for (int round = 0; round < ROUNDS; round++) {
            nest();
            explicit();
            share(round % 3 == 0);
            permit();
            if (produces) {
                put(round);
            } else {
                try {
                    take();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Kernels kernels = new Kernels();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            boolean produces = i % 2 == 0;
            threads[i] = new Thread(() -> kernels.work(produces));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(kernels.nested + " " + kernels.explicit + " " + kernels.shared + " " + kernels.permitted + " " + kernels.taken);
    }
}
