package compute;

import java.util.Random;

/** A sparse matrix times a vector, again and again: threads own ranges of rows and read everything else. */
public final class SparseMultiply {
    private final double[] values, x, y;
    private final int[] rows, columns;
    private final int[] firsts, lasts;

    SparseMultiply(int n, int entries, int threads) {
        Random random = new Random(1966);
        values = new double[entries];
        x = new double[n];
        y = new double[n];
        rows = new int[entries];
        columns = new int[entries];
        for (int i = 0; i < n; i++) x[i] = random.nextDouble();
        for (int i = 0; i < entries; i++) {
            rows[i] = (int) ((long) i * n / entries);
            columns[i] = random.nextInt(n);
            values[i] = random.nextDouble();
        }
        firsts = new int[threads];
        lasts = new int[threads];
        for (int i = 0; i < threads; i++) {
            firsts[i] = boundary((long) n * i / threads);
            lasts[i] = boundary((long) n * (i + 1) / threads);
        }
    }

    private int boundary(long row) {
        int at = 0;
        while (at < rows.length && rows[at] < row) at++;
        return at;
    }

    void multiply(int index, int times) {
        for (int time = 0; time < times; time++) {
            for (int i = firsts[index]; i < lasts[index]; i++) {
                y[rows[i]] += x[columns[i]] * values[i];
            }
        }
    }

    double total() {
        double total = 0;
        for (double value : y) total += value;
        return total;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments), times = Team.size(arguments) * threads;
        SparseMultiply multiply = new SparseMultiply(5_000, 25_000, threads);
        Team.run(threads, index -> {
            multiply.multiply(index, times);
            return 0;
        });
        Team.print(multiply.total());
    }
}
