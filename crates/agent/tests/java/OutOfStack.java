import java.util.concurrent.atomic.AtomicInteger;

/** A thread runs out of stack in the middle of calls of an atomic and then sleeps, while another one uses the atomic. */
class OutOfStack {
    static int deeper(AtomicInteger n) {
        n.incrementAndGet();
        return deeper(n) + 1;
    }

    static int from(int frames, AtomicInteger n) {
        return frames == 0 ? deeper(n) : from(frames - 1, n) + 1;
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        AtomicInteger n = new AtomicInteger();
        Thread deep = new Thread(null, () -> {
            n.get();
            for (int round = 0; round < 8; round++) {
                try {
                    from(round, n);
                } catch (StackOverflowError expected) {
                    // Nothing watched is touched before the other thread has lost its patience.
                }
                sleep(400);
            }
        }, "deep", 1 << 18);
        Thread other = new Thread(() -> {
            while (deep.isAlive()) {
                n.get();
                sleep(15);
            }
        }, "other");
        Thread guard = new Thread(() -> {
            sleep(120_000);
            Runtime.getRuntime().halt(7);
        }, "guard");
        guard.setDaemon(true);
        guard.start();
        deep.start();
        other.start();
        deep.join();
        other.join();
        System.exit(0);
    }
}
