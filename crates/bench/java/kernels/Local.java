package kernels;

/** Mostly local: arithmetic on local variables, and a counter under a lock now and then. */
public final class Local {
    private long total;

    synchronized void add(long amount) {
        total += amount;
    }

    static long work(int seed) {
        long value = seed;
        for (int i = 0; i < 500; i++) {
            value ^= value << 13;
            value ^= value >>> 7;
            value ^= value << 17;
        }
        return value;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int size = Team.size(arguments);
        Local counter = new Local();
        Team.run(arguments, index -> {
            for (int i = 1; i <= size; i++) {
                counter.add(work(i + index) & 0xff);
            }
            return 0;
        });
        System.out.println(counter.total);
    }
}
