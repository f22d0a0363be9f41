package compute;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Prices by simulation: threads take tasks from a shared list, simulate paths, and put results into a shared one. */
public final class MonteCarlo {
    static final class Rate {
        private double mean, spread, start;

        Rate(double mean, double spread, double start) {
            this.mean = mean;
            this.spread = spread;
            this.start = start;
        }

        double[] path(long seed, int length) {
            Random random = new Random(seed);
            double[] path = new double[length];
            double value = start;
            for (int i = 0; i < length; i++) {
                value *= Math.exp(mean + spread * random.nextGaussian());
                path[i] = value;
            }
            return path;
        }
    }

    static final class Result {
        private double last, highest;

        void take(double[] path) {
            last = path[path.length - 1];
            for (double value : path) if (value > highest) highest = value;
        }

        double value() {
            return Math.max(0, highest - last);
        }
    }

    private final Rate rate = new Rate(1e-4, 1e-2, 100);
    private final List<Long> tasks = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();

    MonteCarlo(int count) {
        for (long i = 0; i < count; i++) tasks.add(i * 11);
    }

    private Long next() {
        synchronized (tasks) {
            return tasks.isEmpty() ? null : tasks.remove(tasks.size() - 1);
        }
    }

    private void done(Result result) {
        synchronized (results) {
            results.add(result);
        }
    }

    void work() {
        for (Long seed = next(); seed != null; seed = next()) {
            Result result = new Result();
            result.take(rate.path(seed, 500));
            done(result);
        }
    }

    double price() {
        double sum = 0;
        for (Result result : results) sum += result.value();
        return sum / results.size();
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments);
        MonteCarlo simulation = new MonteCarlo(Team.size(arguments) * threads);
        Team.run(threads, index -> {
            simulation.work();
            return 0;
        });
        Team.print(simulation.price());
    }
}
