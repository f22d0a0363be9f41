package whole;

import schedule.Pause;

/** Whole: every method of a wrapper is synchronized and calls one that is not. */
public class SynchronizedDelegate {
    static class Plain {
        int n;
        void add(int by) {
            n = n + by;
        }
    }
    static class Safe {
        private final Plain plain = new Plain();
        synchronized void add(int by) {
            plain.add(by);
        }
        synchronized int get() {
            return plain.n;
        }
    }

    public static void main(String[] args) {
        Safe c = new Safe();
        Pause.race(() -> c.add(1), () -> c.add(c.get()));
    }
}
