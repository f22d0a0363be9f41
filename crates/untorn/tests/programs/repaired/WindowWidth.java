package repaired;

import schedule.Pause;

/** Repaired: Window.width is one step now; before: low is read before a move and high after it. */
public class WindowWidth {
    static class Window {
        private int low;
        private int high = 10;
        synchronized int low() {
            return low;
        }
        synchronized int high() {
            return high;
        }
        synchronized void move(int by) {
            low += by;
            high += by;
        }
        synchronized int width() {
            int from = low();
            Pause.here();
            return high() - from;
        }
    }

    public static void main(String[] args) {
        Window c = new Window();
        Pause.race(() -> c.width(), () -> c.move(3));
    }
}
