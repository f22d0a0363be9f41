package torn;

import schedule.Pause;

/** Torn: Point.copyTo: the copy has an old x and a new y. */
public class CopyFields {
    static class Point {
        int x;
        int y;
        void copyTo(Point other) {
            other.x = x;
            Pause.here();
            other.y = y;
        }
        void set(int v) {
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
