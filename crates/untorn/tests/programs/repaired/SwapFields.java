package repaired;

import schedule.Pause;

/** Repaired: Cell.swap is one step now; before: two swaps lose a value. */
public class SwapFields {
    static class Cell {
        int a = 1;
        int b = 2;
        synchronized void swap() {
            int old = a;
            a = b;
            Pause.here();
            b = old;
        }
    }

    public static void main(String[] args) {
        Cell c = new Cell();
        Pause.race(() -> c.swap(), () -> c.swap());
    }
}
