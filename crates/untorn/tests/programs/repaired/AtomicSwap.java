package repaired;

import java.util.concurrent.atomic.AtomicIntegerArray;
import schedule.Pause;

/** Repaired: Matrix.swap is one step now; before: the cells are filled while they are swapped. */
public class AtomicSwap {
    static class Matrix {
        private final AtomicIntegerArray cells = new AtomicIntegerArray(2);
        synchronized void swap() {
            int left = cells.get(0);
            int right = cells.get(1);
            Pause.here();
            cells.set(0, right);
            cells.set(1, left);
        }
        synchronized void fill(int value) {
            cells.set(0, value);
            cells.set(1, value);
        }
    }

    public static void main(String[] args) {
        Matrix c = new Matrix();
        Pause.race(() -> c.swap(), () -> c.fill(3));
    }
}
