package torn;

import schedule.Pause;

/** Torn: Grid.bump: an element of a plain array. */
public class ArrayCell {
    static class Grid {
        final int[] cells = new int[4];
        void bump(int i) {
            int was = cells[i];
            Pause.here();
            cells[i] = was + 1;
        }
    }

    public static void main(String[] args) {
        Grid c = new Grid();
        Pause.race(() -> c.bump(1), () -> c.bump(1));
    }
}
