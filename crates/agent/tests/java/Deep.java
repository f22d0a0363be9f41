/** Threads that run out of stack again and again, in the middle of accesses and critical sections. */
public class Deep {
    int depth;
    static int total;
    final Object lock = new Object();

    void down() {
        depth++;
        synchronized (lock) {
            total++;
        }
        synchronized (this) {
            depth += 2;
        }
        down();
    }

    public static void main(String[] arguments) throws Exception {
        Deep shared = new Deep();
        int[] overflows = new int[1];
        Runnable body = () -> {
            for (int i = 0; i < 20; i++) {
                try {
                    shared.down();
                } catch (StackOverflowError expected) {
                    synchronized (overflows) {
                        overflows[0]++;
                    }
                }
            }
        };
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(null, body, "deep-" + i, (256 + 64 * i) << 10);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        // Every word and monitor must be free again.
        Thread last = new Thread(() -> {
            synchronized (shared.lock) {
                shared.depth = 1;
                total = 3;
            }
            synchronized (shared) {
                shared.depth++;
            }
        });
        last.start();
        last.join();
        System.exit(overflows[0] == 60 && shared.depth == 2 ? 0 : 1);
    }
}
