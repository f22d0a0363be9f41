/**
 * Regions in which nothing happens that is recorded, a hundred thousand times; some around others in which something does,
 * left by return and by exceptions, and more of them within each other than the runtime remembers.
 */
final class Empty {
    private int value;
    private static int total;

    static int nothing(int x) {
        return more(x) + more(x + 1);
    }

    static int more(int x) {
        return x * x % 7 + least(x);
    }

    static int least(int x) {
        if (x == -1) throw new IllegalArgumentException();
        return x & 3;
    }

    synchronized void inner() {
        value++;
    }

    void outer() {
        nothing(1);
        inner();
        nothing(2);
    }

    void thrown() {
        try {
            nothing(-1);
        } catch (IllegalArgumentException expected) {
            inner();
        }
    }

    int deep(int levels) {
        if (levels > 0) return deep(levels - 1) + 1;
        inner();
        return 0;
    }

    public static void main(String[] arguments) throws Exception {
        Empty shared = new Empty();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                int sum = 0;
                for (int k = 0; k < 100_000; k++) sum += nothing(k);
                synchronized (shared) {
                    total += sum;
                }
                for (int k = 0; k < 10; k++) {
                    shared.outer();
                    shared.thrown();
                    shared.deep(300);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(total + " " + shared.value);
    }
}
