package whole;

import schedule.Pause;

/** Whole: a loop that reads until another thread writes. */
public class SpinUntilReady {
    static class Cell {
        private volatile boolean ready;
        private int value;
        int await() {
            while (!ready) {
                Thread.yield();
            }
            return value;
        }
        void put(int v) {
            value = v;
            ready = true;
        }
    }

    public static void main(String[] args) {
        Cell c = new Cell();
        Pause.race(() -> c.await(), () -> c.put(3));
    }
}
