package whole;

import java.util.concurrent.CountDownLatch;
import schedule.Pause;

/** Whole: written before a latch, read after it. */
public class HandOverLatch {
    static class Cell {
        private final CountDownLatch written = new CountDownLatch(1);
        private int a;
        private int b;
        void put(int v) {
            a = v;
            b = v;
            written.countDown();
        }
        int sum() {
            try {
                written.await();
            } catch (InterruptedException e) {
                return 0;
            }
            return a + b;
        }
    }

    public static void main(String[] args) {
        Cell c = new Cell();
        Pause.race(() -> c.sum(), () -> c.put(2));
    }
}
