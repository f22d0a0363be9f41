package compute;

import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** LU factorization with partial pivoting: one thread chooses the pivot, all of them eliminate rows, a barrier between the two. */
public final class Lu {
    private final double[][] a;
    private final int n;
    private final CyclicBarrier barrier;
    private final int threads;
    private double sign = 1;

    Lu(int n, int threads) {
        this.n = n;
        this.threads = threads;
        a = new double[n][n];
        Random random = new Random(7);
        for (double[] row : a) for (int j = 0; j < n; j++) row[j] = random.nextDouble() - 0.5;
        barrier = new CyclicBarrier(threads);
    }

    private void pivot(int k) {
        int best = k;
        for (int i = k + 1; i < n; i++) if (Math.abs(a[i][k]) > Math.abs(a[best][k])) best = i;
        if (best != k) {
            double[] row = a[k];
            a[k] = a[best];
            a[best] = row;
            sign = -sign;
        }
    }

    private void eliminate(int k, int i) {
        double[] from = a[k], row = a[i];
        double factor = row[k] / from[k];
        row[k] = factor;
        for (int j = k + 1; j < n; j++) row[j] -= factor * from[j];
    }

    void factorize(int index) throws InterruptedException, BrokenBarrierException {
        for (int k = 0; k < n - 1; k++) {
            if (index == 0) pivot(k);
            barrier.await();
            for (int i = k + 1 + index; i < n; i += threads) eliminate(k, i);
            barrier.await();
        }
    }

    double logarithm() {
        double sum = sign;
        for (int i = 0; i < n; i++) sum += Math.log(Math.abs(a[i][i]));
        return sum;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments);
        Lu lu = new Lu((int) (Team.size(arguments) * Math.cbrt(threads)), threads);
        Team.run(threads, index -> {
            lu.factorize(index);
            return 0;
        });
        Team.print(lu.logarithm());
    }
}
