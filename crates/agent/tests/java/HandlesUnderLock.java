import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Threads that access the same fields by instructions, updaters and handles, always under a lock: nothing is ever torn. */
public class HandlesUnderLock {
    static final AtomicIntegerFieldUpdater<HandlesUnderLock> U =
        AtomicIntegerFieldUpdater.newUpdater(HandlesUnderLock.class, "n");
    static final VarHandle N, SUM, ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);
    static int sum;

    static {
        try {
            N = MethodHandles.lookup().findVarHandle(HandlesUnderLock.class, "n", int.class);
            SUM = MethodHandles.lookup().findStaticVarHandle(HandlesUnderLock.class, "sum", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    volatile int n;
    int plain;
    final int[] cells = new int[2];
    final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    static final Object STATICS = new Object();

    void regionWrites(int way) {
        lock.writeLock().lock();
        try {
            int now = n;
            switch (way % 5) {
                case 0: U.set(this, now + 1); break;
                case 1: N.setVolatile(this, now + 1); break;
                case 2: n = now + 1; break;
                case 3: U.updateAndGet(this, x -> x + plain - plain + 1); break;
                default: U.compareAndSet(this, now, now + 1); break;
            }
            plain++;
            ELEMENT.setVolatile(cells, 0, cells[0] + 1);
            if (n != now + 1 || (int) ELEMENT.get(cells, 0) != plain) throw new IllegalStateException();
        } finally {
            lock.writeLock().unlock();
        }
    }

    void regionReads(int way) {
        lock.readLock().lock();
        try {
            int now = way % 2 == 0 ? n : U.get(this), seen = plain + cells[0];
            if ((int) N.getVolatile(this) != now || now != plain || cells[0] + plain != seen) {
                throw new IllegalStateException();
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    static void regionStatic(int way) {
        synchronized (STATICS) {
            int now = sum;
            if (way % 2 == 0) SUM.setVolatile(now + 1);
            else sum = now + 1;
            if ((int) SUM.getVolatile() != now + 1) throw new IllegalStateException();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = Integer.parseInt(arguments[0]);
        HandlesUnderLock[] all = { new HandlesUnderLock(), new HandlesUnderLock(), new HandlesUnderLock() };
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            int id = t;
            threads[t] = new Thread(() -> {
                int random = id * 77 + 1;
                for (int i = 0; i < rounds; i++) {
                    random ^= random << 13;
                    random ^= random >>> 17;
                    random ^= random << 5;
                    HandlesUnderLock one = all[(random >>> 8) % all.length];
                    switch (random >>> 3 & 7) {
                        case 0: one.regionWrites(random >>> 16); break;
                        case 1: regionStatic(random >>> 16); break;
                        default: one.regionReads(random >>> 16); break;
                    }
                }
            });
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }
}
