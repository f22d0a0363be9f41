package torn;

import schedule.Pause;

/** Torn: Cell.swap: two swaps lose a value. */
public class SwapFields {
    static class Cell {
        int a = 1;
        int b = 2;
        void swap() {
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
