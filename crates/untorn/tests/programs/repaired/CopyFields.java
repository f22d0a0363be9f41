package repaired;

import schedule.Pause;

/** Repaired: Point.copyTo is one step now; before: the copy has an old x and a new y. */
public class CopyFields {
    static class Point {
        int x;
        int y;
        synchronized void copyTo(Point other) {
            other.x = x;
            Pause.here();
            other.y = y;
        }
        synchronized void set(int v) {
            x = v;
            y = v;
        }
    }

    public static void main(String[] args) {
        Point c = new Point();
        Point copy = new Point();
        Pause.race(() -> c.copyTo(copy), () -> c.set(7));
    }
}
