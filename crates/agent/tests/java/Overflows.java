import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Threads run out of stack in every way that a frame can hold a monitor. What they share is guarded by one monitor, which
 * is held from the first access of a region to the last, so that nothing here can be torn.
 * Arguments: a seed, how many rounds, and "torn" for a tear at the end that must be seen.
 */
public class Overflows {
    int a, b;
    static int total;
    final Object inner = new Object();
    final Random random;

    Overflows(long seed) {
        random = new Random(seed);
    }

    // ---- the monitor is held all the way down -------------------------------------------------

    synchronized int method(int n) {
        a++;
        return next(n) + a;
    }

    int block(int n) {
        synchronized (this) {
            b++;
            int deep = next(n);
            a = deep;
            return deep;
        }
    }

    int blocks(int n) {
        synchronized (this) {
            synchronized (inner) {
                b++;
            }
            synchronized (inner) {
                total++;
                return next(n);
            }
        }
    }

    synchronized int cleansUp(int n) {
        try {
            return next(n);
        } finally {
            a++;
            total += b;
        }
    }

    synchronized int catches(int n) {
        int deep = 0;
        try {
            deep = next(n);
        } catch (StackOverflowError expected) {
            b = a + 1;
        }
        return deep + b;
    }

    int catchesInBlock(int n) {
        synchronized (this) {
            try {
                return next(n);
            } catch (StackOverflowError expected) {
                a++;
            }
            b++;
        }
        return 0;
    }

    synchronized int throughLibrary(int n) {
        a++;
        int[] result = new int[1];
        List.of(n).forEach(m -> result[0] = next(m));
        return result[0] + a;
    }

    synchronized int throwsOther(int n) {
        try {
            return next(n);
        } catch (StackOverflowError expected) {
            throw new IllegalStateException(expected);
        } finally {
            b++;
        }
    }

    /** Any of the above. */
    int next(int n) {
        if (n == 0) return 0;
        switch (random.nextInt(9)) {
            case 0: return method(n - 1);
            case 1: return block(n - 1);
            case 2: return blocks(n - 1);
            case 3: return cleansUp(n - 1);
            case 4: return n % 50 == 0 ? catches(n - 1) : method(n - 1);
            case 5: return n % 70 == 0 ? catchesInBlock(n - 1) : block(n - 1);
            case 6: return throughLibrary(n - 1);
            case 7: return n % 90 == 0 ? throwsOther(n - 1) : cleansUp(n - 1);
            default: return method(n - 1);
        }
    }

    // ---- the monitor is taken at the very end of the stack ------------------------------------

    synchronized void touch() {
        a++;
        total++;
    }

    void touchInBlock() {
        synchronized (this) {
            b++;
            synchronized (inner) {
                a = b;
            }
        }
    }

    int bare(int n) {
        if (n == 0) return 0;
        touch();
        touchInBlock();
        return 1 + bare(n - 1);
    }

    int bareThenCatch(int n) {
        try {
            touchInBlock();
            return bareThenCatch(n - 1);
        } catch (StackOverflowError expected) {
            touch();
            return 1;
        }
    }

    // ---- and a tear, in what is guarded by nothing that both hold -----------------------------

    static int shared;
    static final CountDownLatch READ = new CountDownLatch(1), WRITTEN = new CountDownLatch(1);

    static class Own {
        synchronized void tornOne() throws InterruptedException {
            int seen = shared;
            READ.countDown();
            WRITTEN.await();
            shared = seen + 1;
        }

        synchronized void other() throws InterruptedException {
            READ.await();
            shared = 7;
            WRITTEN.countDown();
        }
    }

    static void overflow(Overflows on, int kind) {
        try {
            switch (kind % 5) {
                case 0: on.method(1_000_000); break;
                case 1: on.bare(1_000_000); break;
                case 2: on.block(1_000_000); break;
                case 3: on.bareThenCatch(1_000_000); break;
                default: on.blocks(1_000_000); break;
            }
        } catch (StackOverflowError | IllegalStateException expected) {
            // Accesses outside of every region follow.
            synchronized (on) {
                on.a++;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int seed = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        boolean torn = arguments.length > 2;
        shared = 1;
        Overflows one = new Overflows(seed);
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            Own own = new Own();
            threads[i] = new Thread(null, () -> {
                for (int round = 0; round < rounds; round++) overflow(one, seed + number + round);
                if (!torn) return;
                try {
                    if (number == 0) own.tornOne();
                    else own.other();
                } catch (InterruptedException unexpected) {
                    throw new IllegalStateException(unexpected);
                }
            }, "deep-" + i, (192 + 32 * i) << 10);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        // In a pool the platform catches what the program does not.
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int round = 0; round < rounds; round++) {
            int kind = seed + round;
            Future<?>[] both = new Future<?>[2];
            for (int i = 0; i < 2; i++) {
                both[i] = pool.submit((Callable<Integer>) () -> kind % 2 == 0 ? one.method(1_000_000) : one.bare(1_000_000));
            }
            for (Future<?> each : both) {
                try {
                    each.get();
                } catch (java.util.concurrent.ExecutionException expected) {
                    one.touch();
                }
            }
        }
        pool.shutdown();
        System.out.println("done");
    }
}
