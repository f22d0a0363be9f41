import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Fields under two names, locks in parts, tasks that a pool runs: two threads, whose events are counted. */
public class Inherited {
    static class Base {
        volatile int field;
        static long shared;

        void inBase() {
            field = 1;
            shared = 2;
        }
    }

    static class Sub extends Base {
        void inSub() {
            field = field + 1;
            shared = shared + 1;
        }
    }

    static final Lock LOCK = new ReentrantLock();
    static final Condition TURN = LOCK.newCondition();
    static final ReentrantReadWriteLock BOTH = new ReentrantReadWriteLock();
    static boolean go;

    public static void main(String[] args) throws Exception {
        Sub sub = new Sub();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        sub.inSub();
        Future<?> task = pool.submit(() -> {
            sub.inBase();
            Lock writer = BOTH.writeLock();
            writer.lock();
            writer.unlock();
            LOCK.lock();
            go = true;
            TURN.signalAll();
            LOCK.unlock();
        });
        LOCK.lock();
        while (!go) TURN.await();
        LOCK.unlock();
        task.get();
        Lock reader = BOTH.readLock();
        reader.lock();
        reader.unlock();
        pool.shutdown();
    }
}
