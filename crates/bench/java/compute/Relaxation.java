package compute;

/** Successive over-relaxation, red and black: threads own bands of rows and wait for their neighbours by counters of rounds. */
public final class Relaxation {
    private static final double OMEGA = 1.25;

    /** How far a band is; its neighbours wait for it. */
    static final class Progress {
        private int done;

        synchronized void advance() {
            done++;
            notifyAll();
        }

        synchronized void await(int round) throws InterruptedException {
            while (done < round) wait();
        }
    }

    private final double[][] grid;
    private final Progress[] progress;
    private final int n;

    Relaxation(int n, int threads) {
        this.n = n;
        grid = new double[n][n];
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) grid[i][j] = (i * 31 + j * 17) % 101 / 101.0;
        progress = new Progress[threads];
        for (int i = 0; i < threads; i++) progress[i] = new Progress();
    }

    private void awaitNeighbours(int index, int round) throws InterruptedException {
        if (index > 0) progress[index - 1].await(round);
        if (index + 1 < progress.length) progress[index + 1].await(round);
    }

    private void relax(int row, int colour) {
        double[] above = grid[row - 1], here = grid[row], below = grid[row + 1];
        for (int j = 1 + (row + colour) % 2; j < n - 1; j += 2) {
            here[j] = OMEGA / 4 * (above[j] + below[j] + here[j - 1] + here[j + 1]) + (1 - OMEGA) * here[j];
        }
    }

    void work(int index, int rounds) throws InterruptedException {
        int threads = progress.length;
        int first = Math.max(1, n * index / threads), last = Math.min(n - 1, n * (index + 1) / threads);
        for (int round = 0; round < 2 * rounds; round++) {
            awaitNeighbours(index, round);
            for (int row = first; row < last; row++) relax(row, round % 2);
            progress[index].advance();
        }
    }

    double total() {
        double total = 0;
        for (double[] row : grid) for (double cell : row) total += cell;
        return total;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments), rounds = Team.size(arguments) * threads;
        Relaxation relaxation = new Relaxation(300, threads);
        Team.run(threads, index -> {
            relaxation.work(index, rounds);
            return 0;
        });
        Team.print(relaxation.total());
    }
}
