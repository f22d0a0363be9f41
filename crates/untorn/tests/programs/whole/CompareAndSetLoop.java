package whole;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Whole: a loop around compareAndSet. */
public class CompareAndSetLoop {
    static class Counter {
        private final AtomicInteger n = new AtomicInteger();
        void twice() {
            int now;
            do {
                now = n.get();
                Pause.here();
            } while (!n.compareAndSet(now, now * 2 + 1));
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.twice(), () -> c.twice());
    }
}
