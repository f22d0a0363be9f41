import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A thread enters critical sections of every kind at every depth of its stack, to its very end, while another one uses the
 * same locks. Each section gives up in a finally block what it took right before, so that no lock may stay held.
 * Argument: how many depths of a frame to begin at.
 */
public class Depths {
    abstract static class Way {
        int n;

        /** A critical section. */
        abstract void change() throws InterruptedException;

        /** Another one, on what is only read. */
        void look() throws InterruptedException {}
    }

    static class Reentrant extends Way {
        final ReentrantLock lock;

        Reentrant(boolean fair) {
            lock = new ReentrantLock(fair);
        }

        void change() {
            lock.lock();
            try {
                n++;
                lock.lock();
                try {
                    n++;
                } finally {
                    lock.unlock();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    static class Tried extends Way {
        final Lock lock = new ReentrantLock();

        void change() throws InterruptedException {
            if (!lock.tryLock() && !lock.tryLock(1, TimeUnit.SECONDS)) return;
            try {
                n++;
            } finally {
                lock.unlock();
            }
        }
    }

    static class Write extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

        void change() throws InterruptedException {
            lock.writeLock().lockInterruptibly();
            try {
                n++;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    static class Read extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        int seen;

        void look() {
            lock.readLock().lock();
            try {
                int now = n;
                lock.readLock().lock();
                try {
                    if (now != n) throw new AssertionError();
                } finally {
                    lock.readLock().unlock();
                }
            } finally {
                lock.readLock().unlock();
            }
        }

        void change() {
            lock.writeLock().lock();
            try {
                n++;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    static class Downgrade extends Way {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
        final Lock reads = lock.readLock(), writes = lock.writeLock();

        void change() {
            writes.lock();
            try {
                n++;
                reads.lock();
            } finally {
                writes.unlock();
            }
            try {
                if (n < 0) throw new AssertionError();
            } finally {
                reads.unlock();
            }
        }
    }

    static class Stamped extends Way {
        final StampedLock lock = new StampedLock();

        void change() {
            long stamp = lock.writeLock();
            try {
                n++;
                stamp = lock.tryConvertToReadLock(stamp);
                if (n < 0) throw new AssertionError();
                long write = lock.tryConvertToWriteLock(stamp);
                if (write != 0) {
                    stamp = write;
                    n++;
                }
            } finally {
                lock.unlock(stamp);
            }
        }
    }

    static class StampedRead extends Way {
        final StampedLock lock = new StampedLock();

        void look() throws InterruptedException {
            long stamp = lock.readLockInterruptibly();
            try {
                if (n < 0) throw new AssertionError();
            } finally {
                lock.unlockRead(stamp);
            }
        }

        void change() throws InterruptedException {
            long stamp = lock.tryWriteLock(1, TimeUnit.SECONDS);
            if (stamp == 0) return;
            try {
                n++;
            } finally {
                lock.unlockWrite(stamp);
            }
        }
    }

    static class Views extends Way {
        final StampedLock lock = new StampedLock();
        final Lock reads = lock.asReadLock(), writes = lock.asReadWriteLock().writeLock();

        void change() {
            writes.lock();
            try {
                n++;
            } finally {
                writes.unlock();
            }
        }

        void look() {
            reads.lock();
            try {
                if (n < 0) throw new AssertionError();
            } finally {
                reads.unlock();
            }
        }
    }

    static class Conditions extends Way {
        final ReentrantLock lock = new ReentrantLock();
        final Condition changed = lock.newCondition();

        void change() throws InterruptedException {
            lock.lock();
            try {
                n++;
                changed.signalAll();
                if (n % 16 == 0) changed.awaitNanos(1000);
                n++;
            } finally {
                lock.unlock();
            }
        }
    }

    /** A method with its own monitor, taken again by a block, and a block of another one. */
    static class Monitor extends Way {
        final Object other = new Object();
        int seen;

        synchronized void change() {
            n++;
            synchronized (this) {
                n++;
            }
        }

        void look() {
            synchronized (other) {
                seen++;
            }
        }
    }

    static class Permits extends Way {
        final Semaphore permit = new Semaphore(1);

        void change() throws InterruptedException {
            permit.acquire();
            try {
                n++;
            } finally {
                permit.release();
            }
        }
    }

    static class Token extends Way {
        final BlockingQueue<Object> queue = new ArrayBlockingQueue<>(1);

        Token() {
            queue.add(this);
        }

        void change() throws InterruptedException {
            Object token = queue.take();
            try {
                n++;
            } finally {
                queue.put(token);
            }
        }
    }

    // ---- to the end of the stack ------------------------------------------------------------------------------------

    static int deeper(Way way) throws InterruptedException {
        way.change();
        way.look();
        return deeper(way) + 1;
    }

    /** Its frames have another size than those of {@link #deeper}. */
    static int from(int frames, Way way) throws InterruptedException {
        return frames == 0 ? deeper(way) : from(frames - 1, way) + 1;
    }

    static void descend(int begins, Way way) {
        for (int frames = 0; frames < begins; frames++) {
            try {
                from(frames, way);
            } catch (StackOverflowError expected) {
                // All that was taken has been given up.
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        }
    }

    static Way now;

    public static void main(String[] arguments) throws Exception {
        int begins = Integer.parseInt(arguments[0]);
        Thread guard = new Thread(() -> {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            System.err.println("left held: " + now.getClass());
            Runtime.getRuntime().halt(7);
        });
        guard.setDaemon(true);
        guard.start();
        Way[] ways = {
            new Reentrant(false), new Reentrant(true), new Tried(), new Write(), new Read(), new Downgrade(), new Stamped(),
            new StampedRead(), new Views(), new Conditions(), new Monitor(), new Permits(), new Token(),
        };
        for (Way way : ways) {
            now = way;
            Thread deep = new Thread(null, () -> descend(begins, way), "deep", 160 << 10);
            Thread other = new Thread(() -> {
                try {
                    while (deep.isAlive()) {
                        way.change();
                        way.look();
                        Thread.sleep(0, 100_000);
                    }
                    way.change();
                } catch (InterruptedException unexpected) {
                    throw new AssertionError(unexpected);
                }
            });
            deep.start();
            other.start();
            deep.join();
            other.join();
        }
        Runtime.getRuntime().halt(0);
    }
}
