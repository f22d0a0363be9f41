import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Random walks of a price in several threads, after montecarlo.
 * torn: Results.add, which puts a result into a synchronized list and counts it in a second step
 * torn: Results.mean, which walks over that list by size and index while it grows
 */
public class MonteCarlo {
    static final int WALKS = 400;
    static final int WORKERS = 3;

    public static void main(String[] arguments) throws Exception {
        Results results = new Results();
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Thread(new Walker(results, i), "walker-" + i);
            workers[i].start();
        }
        for (int i = 0; i < 20; i++) {
            results.mean();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("mean " + results.mean() + " of " + results.count());
    }
}

final class Results {
    private final List<Double> ends = Collections.synchronizedList(new ArrayList<>());
    private int count;

    /** The count may be behind the list, or an addition to it lost. */
    void add(double end) {
        ends.add(end);
        count++;
    }

    double mean() {
        double sum = 0;
        for (int i = 0; i < ends.size(); i++) {
            sum += ends.get(i);
        }
        return ends.isEmpty() ? 0 : sum / ends.size();
    }

    int count() {
        return count;
    }
}

final class Walker implements Runnable {
    private final Results results;
    private long seed;

    Walker(Results results, long seed) {
        this.results = results;
        this.seed = seed;
    }

    @Override
    public void run() {
        for (int walk = 0; walk < MonteCarlo.WALKS; walk++) {
            double price = 100;
            for (int step = 0; step < 20; step++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                price *= 1 + (seed >> 40) * 1e-9;
            }
            results.add(price);
        }
    }
}
