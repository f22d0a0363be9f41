package whole;

import schedule.Pause;

/** Whole: toString reads without a lock. */
public class RacyToString {
    static class Point {
        private int x;
        private int y;
        synchronized void move(int by) {
            x += by;
            y += by;
        }
        @Override public String toString() {
            String first = "x=" + x;
            Pause.here();
            return first + " y=" + y;
        }
    }

    public static void main(String[] args) {
        Point c = new Point();
        Pause.race(() -> c.toString(), () -> c.move(1));
    }
}
