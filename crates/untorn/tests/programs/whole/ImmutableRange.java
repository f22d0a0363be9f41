package whole;

import schedule.Pause;

/** Whole: both ends of a range in one immutable object, replaced under a lock. */
public class ImmutableRange {
    static final class Range {
        final int low;
        final int high;
        Range(int low, int high) {
            this.low = low;
            this.high = high;
        }
    }
    static class Window {
        private volatile Range range = new Range(0, 10);
        synchronized void move(int by) {
            Range was = range;
            range = new Range(was.low + by, was.high + by);
        }
        int width() {
            Range now = range;
            Pause.here();
            return now.high - now.low;
        }
    }

    public static void main(String[] args) {
        Window c = new Window();
        Pause.race(() -> c.width(), () -> c.move(3));
    }
}
