package torn;

import schedule.Pause;

/** Torn: Stock.reserve: check and act are in private methods. */
public class ThroughHelper {
    static class Stock {
        private int left = 1;
        boolean reserve() {
            if (!available()) {
                return false;
            }
            Pause.here();
            take();
            return true;
        }
        private boolean available() {
            return left > 0;
        }
        private void take() {
            left--;
        }
    }

    public static void main(String[] args) {
        Stock c = new Stock();
        Pause.race(() -> c.reserve(), () -> c.reserve());
    }
}
