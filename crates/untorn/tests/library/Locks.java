import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Every region is one critical section, by one way of locking; the argument names the ways to run. */
public class Locks {
    static final int ROUNDS = Integer.getInteger("rounds", 300);

    /** What a way of locking protects: two fields that are always the same outside of a section. */
    abstract static class Way {
        int a, b;

        abstract void change() throws Exception;

        abstract int look() throws Exception;

        void check(int x, int y) {
            if (x != y) throw new AssertionError(x + " " + y);
        }
    }

    static class Reentrant extends Way {
        final ReentrantLock lock = new ReentrantLock();

        void change() {
            lock.lock();
            try {
                a++;
                again();
            } finally {
                lock.unlock();
            }
        }

        private void again() {
            lock.lock();
            try {
                b++;
            } finally {
                lock.unlock();
            }
        }

        int look() throws InterruptedException {
            while (!lock.tryLock(1, TimeUnit.SECONDS)) Thread.onSpinWait();
            try {
                check(a, b);
                return a + b;
            } finally {
                lock.unlock();
            }
        }
    }

    static class Interruptibly extends Way {
        final Lock lock = new ReentrantLock(true);

        void change() throws InterruptedException {
            lock.lockInterruptibly();
            try {
                a++;
                b++;
            } finally {
                lock.unlock();
            }
        }

        int look() {
            if (!lock.tryLock()) return -1;
            try {
                check(a, b);
                return a + b;
            } finally {
                lock.unlock();
            }
        }
    }

    static class ReadWrite extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

        void change() {
            lock.writeLock().lock();
            try {
                a++;
                lock.writeLock().lock();
                b++;
                lock.writeLock().unlock();
            } finally {
                lock.writeLock().unlock();
            }
        }

        int look() {
            lock.readLock().lock();
            try {
                int x = a;
                lock.readLock().lock();
                check(x, b);
                lock.readLock().unlock();
                return x + b;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    static class Downgrade extends Way {
        final ReadWriteLock lock = new ReentrantReadWriteLock();
        final Lock reads = lock.readLock(), writes = lock.writeLock();

        void change() throws InterruptedException {
            writes.lockInterruptibly();
            try {
                a++;
                b++;
                reads.lock();
            } finally {
                writes.unlock();
            }
            try {
                check(a, b);
            } finally {
                reads.unlock();
            }
        }

        int look() throws InterruptedException {
            if (!reads.tryLock(5, TimeUnit.SECONDS)) return -1;
            try {
                check(a, b);
                return a;
            } finally {
                reads.unlock();
            }
        }
    }

    static class TriedReadWrite extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);

        void change() throws InterruptedException {
            if (!lock.writeLock().tryLock()) {
                if (!lock.writeLock().tryLock(5, TimeUnit.SECONDS)) return;
            }
            try {
                a++;
                b++;
            } finally {
                lock.writeLock().unlock();
            }
        }

        int look() throws InterruptedException {
            if (!lock.readLock().tryLock()) lock.readLock().lockInterruptibly();
            try {
                check(a, b);
                return a;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    static class Stamped extends Way {
        final StampedLock lock = new StampedLock();

        void change() throws InterruptedException {
            long stamp = lock.tryWriteLock();
            if (stamp == 0) stamp = lock.tryWriteLock(1, TimeUnit.MILLISECONDS);
            if (stamp == 0) stamp = lock.writeLockInterruptibly();
            try {
                a++;
                b++;
            } finally {
                if (a % 3 == 0) lock.unlock(stamp);
                else if (a % 3 == 1) lock.tryUnlockWrite();
                else lock.unlockWrite(stamp);
            }
        }

        int look() throws InterruptedException {
            long stamp = lock.tryReadLock();
            if (stamp == 0) stamp = lock.tryReadLock(1, TimeUnit.MILLISECONDS);
            if (stamp == 0) stamp = lock.readLockInterruptibly();
            int x;
            try {
                check(a, b);
                x = a;
            } finally {
                if (a % 3 == 0) lock.unlock(stamp);
                else if (a % 3 == 1) lock.tryUnlockRead();
                else lock.unlockRead(stamp);
            }
            return x;
        }
    }

    static class Upgraded extends Way {
        final StampedLock lock = new StampedLock();

        void change() {
            long stamp = lock.readLock();
            try {
                long write = lock.tryConvertToWriteLock(stamp);
                if (write == 0) return;
                stamp = write;
                a++;
                b++;
            } finally {
                lock.unlock(stamp);
            }
        }

        int look() {
            long stamp = lock.writeLock();
            check(a, b);
            stamp = lock.tryConvertToReadLock(stamp);
            try {
                check(a, b);
                return a;
            } finally {
                lock.unlock(stamp);
            }
        }
    }

    static class Optimistic extends Way {
        final StampedLock lock = new StampedLock();

        void change() {
            long stamp = lock.tryConvertToWriteLock(lock.tryOptimisticRead());
            if (stamp == 0) stamp = lock.writeLock();
            a++;
            b++;
            if (lock.tryConvertToWriteLock(stamp) != stamp) throw new AssertionError();
            lock.tryConvertToOptimisticRead(stamp);
        }

        int look() {
            long stamp = lock.tryConvertToReadLock(lock.tryOptimisticRead());
            if (stamp == 0) stamp = lock.readLock();
            check(a, b);
            int x = a;
            stamp = lock.tryConvertToReadLock(stamp);
            stamp = lock.tryConvertToOptimisticRead(stamp);
            lock.validate(stamp);
            return x;
        }
    }

    static class Views extends Way {
        final StampedLock lock = new StampedLock();
        final Lock reads = lock.asReadLock();
        final Lock writes = lock.asReadWriteLock().writeLock();

        void change() throws InterruptedException {
            if (!writes.tryLock()) lock.asWriteLock().lockInterruptibly();
            a++;
            b++;
            writes.unlock();
        }

        int look() throws InterruptedException {
            if (!reads.tryLock(1, TimeUnit.MILLISECONDS)) lock.asReadWriteLock().readLock().lock();
            check(a, b);
            int x = a;
            reads.unlock();
            return x;
        }
    }

    static class Permits extends Way {
        final Semaphore permit = new Semaphore(1);

        void change() throws InterruptedException {
            if (!permit.tryAcquire()) permit.acquire();
            a++;
            b++;
            permit.release();
        }

        int look() throws InterruptedException {
            permit.acquireUninterruptibly();
            check(a, b);
            int x = a;
            permit.release();
            return x;
        }
    }

    /** A hand-over by conditions, waited for in all ways; each wait is over by a signal or its time. */
    static class Conditions extends Way {
        final Lock lock = new ReentrantLock();
        final Condition changed = lock.newCondition();

        void change() throws InterruptedException {
            lock.lock();
            lock.lock();
            try {
                a++;
                b++;
                if (a % 2 == 0) changed.signal();
                else changed.signalAll();
            } finally {
                lock.unlock();
                lock.unlock();
            }
        }

        int look() throws InterruptedException {
            lock.lock();
            try {
                lock.lock();
                switch (a % 5) {
                    case 0: changed.awaitNanos(100_000); break;
                    case 1: changed.await(100, TimeUnit.MICROSECONDS); break;
                    case 2: changed.awaitUntil(new java.util.Date(System.currentTimeMillis() + 1)); break;
                    case 3:
                        Thread.currentThread().interrupt();
                        try {
                            changed.await();
                        } catch (InterruptedException expected) {
                            check(a, b);
                        }
                        break;
                    default: changed.awaitNanos(0);
                }
                lock.unlock();
                check(a, b);
                return a;
            } finally {
                lock.unlock();
            }
        }
    }

    static class WriteCondition extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        final Condition changed = lock.writeLock().newCondition();

        void change() {
            lock.writeLock().lock();
            a++;
            b++;
            changed.signalAll();
            lock.writeLock().unlock();
        }

        int look() throws InterruptedException {
            lock.writeLock().lock();
            changed.awaitNanos(50_000);
            lock.readLock().lock();
            lock.writeLock().unlock();
            check(a, b);
            int x = a;
            lock.readLock().unlock();
            return x;
        }
    }

    /** Extends a lock, and is used by its own name. */
    static class Own extends ReentrantLock {
        int times;

        @Override
        public void lock() {
            super.lock();
            times++;
        }
    }

    static class Extended extends Way {
        final Own lock = new Own();
        final Lock same = lock;

        void change() {
            lock.lock();
            a++;
            b++;
            same.unlock();
        }

        int look() {
            same.lock();
            check(a, b);
            int x = a;
            lock.unlock();
            return x;
        }
    }

    /** Wraps a lock: the one that it is for readers is shared by many. */
    static class Wrapper implements Lock {
        final Lock inner;

        Wrapper(Lock inner) {
            this.inner = inner;
        }

        public void lock() {
            inner.lock();
        }

        public void lockInterruptibly() throws InterruptedException {
            inner.lockInterruptibly();
        }

        public boolean tryLock() {
            return inner.tryLock();
        }

        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return inner.tryLock(time, unit);
        }

        public void unlock() {
            inner.unlock();
        }

        public Condition newCondition() {
            return inner.newCondition();
        }
    }

    static class Wrapped extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        final Lock reads = new Wrapper(lock.readLock()), writes = new Wrapper(lock.writeLock());

        void change() {
            writes.lock();
            a++;
            b++;
            writes.unlock();
        }

        int look() {
            reads.lock();
            check(a, b);
            int x = a;
            reads.unlock();
            return x;
        }
    }

    /** Taken by a method reference, given up through the interface, and the reverse. */
    static class Referred extends Way {
        final Lock lock = new ReentrantLock();
        final Predicate<Lock> take = Lock::tryLock;
        final BooleanSupplier takeThis = lock::tryLock;
        final Runnable give = lock::unlock;

        void change() {
            while (!take.test(lock)) Thread.onSpinWait();
            a++;
            b++;
            lock.unlock();
        }

        int look() {
            if (!takeThis.getAsBoolean()) lock.lock();
            check(a, b);
            int x = a;
            give.run();
            return x;
        }
    }

    /** Locks in one method, unlocks in another, as regions of their own and in one around them. */
    static class Apart extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

        void take() {
            lock.writeLock().lock();
        }

        void give() {
            lock.writeLock().unlock();
        }

        void change() {
            take();
            a++;
            b++;
            give();
        }

        int look() {
            lock.readLock().lock();
            check(a, b);
            int x = a;
            giveRead();
            return x;
        }

        void giveRead() {
            lock.readLock().unlock();
        }
    }

    /** Two sections where there should be one. */
    static class Torn extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

        void change() {
            lock.writeLock().lock();
            a++;
            b++;
            lock.writeLock().unlock();
        }

        int look() {
            lock.readLock().lock();
            int x = a;
            lock.readLock().unlock();
            Thread.yield();
            lock.readLock().lock();
            int y = b;
            lock.readLock().unlock();
            return x + y;
        }
    }

    static class TornStamped extends Way {
        final StampedLock lock = new StampedLock();

        void change() {
            long stamp = lock.writeLock();
            a++;
            b++;
            lock.unlockWrite(stamp);
        }

        int look() {
            long stamp = lock.readLock();
            int x = a;
            lock.unlockRead(stamp);
            Thread.yield();
            stamp = lock.writeLock();
            int y = b;
            lock.unlock(stamp);
            return x + y;
        }
    }

    /** Stamps that one thread takes and another one gives up, or converts. */
    static class Handed extends Way {
        final StampedLock lock = new StampedLock();
        final ExecutorService other = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });

        void change() throws Exception {
            long stamp = lock.writeLock();
            a++;
            b++;
            switch (a % 4) {
                case 0: other.submit(() -> lock.unlockWrite(stamp)).get(); break;
                case 1: other.submit(() -> lock.unlock(lock.tryConvertToReadLock(stamp))).get(); break;
                case 2: other.submit(() -> lock.tryUnlockWrite()).get(); break;
                default: lock.unlockWrite(stamp);
            }
        }

        int look() throws Exception {
            long stamp = lock.readLock();
            check(a, b);
            int x = a;
            switch (x % 5) {
                case 0: other.submit(() -> lock.unlockRead(stamp)).get(); break;
                case 1: other.submit(() -> lock.unlock(stamp)).get(); break;
                case 2: other.submit(() -> lock.tryConvertToOptimisticRead(stamp)).get(); break;
                case 3: other.submit(() -> upgrade(stamp)).get(); break;
                default: lock.unlockRead(stamp);
            }
            return x;
        }

        void upgrade(long stamp) {
            long write = lock.tryConvertToWriteLock(stamp);
            lock.unlock(write == 0 ? stamp : write);
        }
    }

    static Way[] whole() {
        return new Way[] {
            new Reentrant(), new Interruptibly(), new ReadWrite(), new Downgrade(), new TriedReadWrite(),
            new Stamped(), new Upgraded(), new Optimistic(), new Views(), new Extended(),
            new Wrapped(), new Referred(), new Apart(),
        };
    }

    /** No lock, as far as predictions go: whoever holds a permit may have got it from anybody. */
    static Way[] permits() {
        return new Way[] {new Permits()};
    }

    static Way[] waiting() {
        return new Way[] {new Conditions(), new WriteCondition()};
    }

    static Way[] handed() {
        return new Way[] {new Handed()};
    }

    static Way[] torn() {
        return new Way[] {new Torn(), new TornStamped()};
    }

    public static void main(String[] args) throws Exception {
        Way[] ways;
        switch (args[0]) {
            case "whole": ways = whole(); break;
            case "permits": ways = permits(); break;
            case "waiting": ways = waiting(); break;
            case "handed": ways = handed(); break;
            case "all":
                ways = Stream.of(whole(), permits(), waiting(), handed(), torn()).flatMap(Stream::of).toArray(Way[]::new);
                break;
            default: ways = torn();
        }
        for (Way way : ways) {
            // One thread alone first, so that what goes unrecorded until a second one comes is tried too.
            way.change();
            way.look();
            Thread[] threads = new Thread[3];
            for (int i = 0; i < threads.length; i++) {
                boolean changes = i != 1;
                threads[i] = new Thread(() -> {
                    try {
                        for (int k = 0; k < ROUNDS; k++) {
                            if (changes) way.change();
                            if (k % 2 == 0 || !changes) way.look();
                        }
                    } catch (Throwable problem) {
                        problem.printStackTrace();
                        System.exit(3);
                    }
                });
            }
            for (Thread thread : threads) thread.start();
            for (Thread thread : threads) thread.join();
            System.out.println(way.getClass().getSimpleName() + " " + way.a);
        }
    }
}
