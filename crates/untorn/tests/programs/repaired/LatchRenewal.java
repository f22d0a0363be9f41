package repaired;

import java.util.concurrent.CountDownLatch;
import schedule.Pause;

/** Repaired: Rounds.next is one step now; before: a used-up latch is replaced twice. */
public class LatchRenewal {
    static class Rounds {
        private CountDownLatch latch = new CountDownLatch(0);
        synchronized CountDownLatch next() {
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
