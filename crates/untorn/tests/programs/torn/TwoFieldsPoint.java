package torn;

import schedule.Pause;

/** Torn: Point.move: a reader sees half of a move. */
public class TwoFieldsPoint {
    static class Point {
        int x;
        int y;
        void move(int by) {
            x += by;
            Pause.here();
            y += by;
        }
        int distance() {
            return x - y;
        }
    }

    public static void main(String[] args) {
        Point c = new Point();
        Pause.race(() -> c.move(5), () -> c.distance());
    }
}
