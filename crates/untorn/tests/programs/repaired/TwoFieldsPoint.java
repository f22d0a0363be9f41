package repaired;

import schedule.Pause;

/** Repaired: Point.move is one step now; before: a reader sees half of a move. */
public class TwoFieldsPoint {
    static class Point {
        int x;
        int y;
        synchronized void move(int by) {
            x += by;
            Pause.here();
            y += by;
        }
        synchronized int distance() {
            return x - y;
        }
    }

    public static void main(String[] args) {
        Point c = new Point();
        Pause.race(() -> c.move(5), () -> c.distance());
    }
}
