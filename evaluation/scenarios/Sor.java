import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Red-black relaxation of a grid in bands, after sor.
 * Nothing is torn: a barrier divides the phases, and within one every cell is written by one thread.
 * The cells are objects, so that every access is watched.
 */
public class Sor {
    static final int SIZE = 24;
    static final int WORKERS = 3;
    static final int SWEEPS = 6;

    public static void main(String[] arguments) throws Exception {
        Grid grid = new Grid();
        CyclicBarrier barrier = new CyclicBarrier(WORKERS);
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Thread(new Band(grid, barrier, i * SIZE / WORKERS, (i + 1) * SIZE / WORKERS), "band-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("sum " + grid.sum());
    }
}

final class Cell {
    double value;
}

final class Grid {
    private final Cell[] cells = new Cell[Sor.SIZE * Sor.SIZE];

    Grid() {
        for (int i = 0; i < cells.length; i++) {
            cells[i] = new Cell();
            cells[i].value = i % 7;
        }
    }

    Cell at(int row, int column) {
        return cells[row * Sor.SIZE + column];
    }

    double sum() {
        double sum = 0;
        for (Cell cell : cells) {
            sum += cell.value;
        }
        return sum;
    }
}

final class Band implements Runnable {
    private final Grid grid;
    private final CyclicBarrier barrier;
    private final int first;
    private final int end;

    Band(Grid grid, CyclicBarrier barrier, int first, int end) {
        this.grid = grid;
        this.barrier = barrier;
        this.first = first;
        this.end = end;
    }

    @Override
    public void run() {
        try {
            for (int phase = 0; phase < 2 * Sor.SWEEPS; phase++) {
                relax(phase % 2);
                barrier.await();
            }
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Cells of one color depend on those of the other alone. */
    private void relax(int color) {
        for (int row = Math.max(first, 1); row < Math.min(end, Sor.SIZE - 1); row++) {
            for (int column = 1 + (row + color) % 2; column < Sor.SIZE - 1; column += 2) {
                double around = grid.at(row - 1, column).value + grid.at(row + 1, column).value
                        + grid.at(row, column - 1).value + grid.at(row, column + 1).value;
                Cell cell = grid.at(row, column);
                cell.value += 0.4 * (around / 4 - cell.value);
            }
        }
    }
}
