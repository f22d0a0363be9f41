package whole;

import java.util.concurrent.CountDownLatch;
import schedule.Pause;

/** Whole: each thread writes what is its own, and the reader waits for both. */
public class StartGate {
    static class Halves {
        private final CountDownLatch done = new CountDownLatch(1);
        private int left;
        private int right;
        void left() {
            left = 1;
            left++;
            Pause.here();
            done.countDown();
        }
        int both() {
            right = 1;
            right++;
            try {
                done.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return left + right;
        }
    }

    public static void main(String[] args) {
        Halves c = new Halves();
        Pause.race(() -> c.left(), () -> c.both());
    }
}
