package whole;

import java.util.concurrent.CyclicBarrier;
import schedule.Pause;

/** Whole: phases divided by a barrier. */
public class Barrier {
    static class Grid {
        private final CyclicBarrier barrier = new CyclicBarrier(2);
        private int left;
        private int right;
        private void meet() {
            try {
                barrier.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        void goLeft() {
            left = 1;
            meet();
            int seen = right;
            meet();
            left = seen;
        }
        void goRight() {
            right = 2;
            meet();
            int seen = left;
            meet();
            right = seen;
        }
    }

    public static void main(String[] args) {
        Grid c = new Grid();
        Pause.together(() -> c.goLeft(), () -> c.goRight());
    }
}
