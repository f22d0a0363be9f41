import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

/** Lets the threads of a driver begin together, round by round. */
final class Rounds {
    /** Makes what each thread does in one round, from objects that no round before has used. */
    interface Round {
        Runnable[] parts(int number) throws Exception;
    }

    private static final int SPINS = 2000;

    private Rounds() {}

    /**
     * Runs all rounds with as many threads as the first round has parts.
     *
     * <p>A library that breaks under its bug may throw; that is counted and told, and ends no round.
     */
    static void race(int rounds, int threads, Round round) throws Exception {
        Runnable[][] parts = {null};
        int[] made = {0};
        AtomicInteger met = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        CyclicBarrier next = new CyclicBarrier(threads, () -> {
            try {
                parts[0] = round.parts(made[0]++);
            } catch (Exception e) {
                throw new IllegalStateException("a round cannot be made", e);
            }
        });
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int me = i;
            workers[i] = new Thread(() -> {
                for (int number = 1; number <= rounds; number++) {
                    try {
                        next.await();
                    } catch (Exception e) {
                        e.printStackTrace();
                        return;
                    }
                    // The barrier wakes its threads one after the other; this lets them go on in the same instant.
                    met.incrementAndGet();
                    for (int spins = 0; met.get() < threads * number; spins++) {
                        if (spins < SPINS) {
                            Thread.onSpinWait();
                        } else {
                            Thread.yield();
                        }
                    }
                    try {
                        parts[0][me].run();
                    } catch (RuntimeException e) {
                        failed.incrementAndGet();
                    }
                }
            }, "worker-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println(rounds + " rounds, " + failed.get() + " parts ended with an exception");
    }
}
