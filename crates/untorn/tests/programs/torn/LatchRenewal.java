package torn;

import java.util.concurrent.CountDownLatch;
import schedule.Pause;

/** Torn: Rounds.next: a used-up latch is replaced twice. */
public class LatchRenewal {
    static class Rounds {
        private volatile CountDownLatch latch = new CountDownLatch(0);
        CountDownLatch next() {
            if (latch.getCount() == 0) {
                Pause.here();
                latch = new CountDownLatch(2);
            }
            return latch;
        }
    }

    public static void main(String[] args) {
        Rounds c = new Rounds();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
