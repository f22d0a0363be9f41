package kernels;

/** Threads that each do the same amount of work. */
final class Team {
    private Team() {}

    interface Work {
        long run(int index);
    }

    /** Runs the work in so many threads and prints what they came to. */
    static void run(String[] arguments, Work work) throws InterruptedException {
        int threads = Integer.parseInt(arguments[0]);
        long[] results = new long[threads];
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int index = i;
            all[i] = new Thread(() -> results[index] = work.run(index));
            all[i].start();
        }
        long sum = 0;
        for (int i = 0; i < threads; i++) {
            all[i].join();
            sum += results[i];
        }
        System.out.println(Long.toHexString(sum));
    }

    static int size(String[] arguments) {
        return Integer.parseInt(arguments[1]);
    }
}
