package compute;

/** Threads that share a piece of work, each with its own index, and the sum of what they came to. */
final class Team {
    private Team() {}

    interface Work {
        double run(int index) throws Exception;
    }

    static double run(int threads, Work work) throws InterruptedException {
        double[] results = new double[threads];
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int index = i;
            all[i] = new Thread(() -> {
                try {
                    results[index] = work.run(index);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            all[i].start();
        }
        double sum = 0;
        for (int i = 0; i < threads; i++) {
            all[i].join();
            sum += results[i];
        }
        return sum;
    }

    static int threads(String[] arguments) {
        return Integer.parseInt(arguments[0]);
    }

    static int size(String[] arguments) {
        return Integer.parseInt(arguments[1]);
    }

    /** Prints a result in a form that does not depend on the order of additions. */
    static void print(double result) {
        System.out.printf("%.6e%n", result);
    }
}
