package whole;

import schedule.Pause;

/** Whole: an object with final fields alone. */
public class FinalFields {
    static final class Point {
        private final int x;
        private final int y;
        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }
        int sum() {
            return x + y;
        }
    }

    public static void main(String[] args) {
        Point c = new Point(1, 2);
        Pause.race(() -> c.sum(), () -> c.sum());
    }
}
