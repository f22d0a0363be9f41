package whole;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import schedule.Pause;

/** Whole: a consumer takes until it gets the pill, and counts for itself. */
public class PoisonPill {
    static class Belt {
        private static final Integer PILL = -1;
        private final BlockingQueue<Integer> items = new LinkedBlockingQueue<>();
        void produce() {
            for (int i = 0; i < 3; i++) {
                items.add(i);
            }
            items.add(PILL);
        }
        int consume() {
            int sum = 0;
            try {
                for (Integer item = items.take(); !item.equals(PILL); item = items.take()) {
                    sum += item;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Belt c = new Belt();
        Pause.race(() -> c.consume(), () -> c.produce());
    }
}
