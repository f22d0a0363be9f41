package whole;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Whole: incrementAndGet. */
public class AtomicCounter {
    static class Counter {
        private final AtomicInteger n = new AtomicInteger();
        int increment() {
            return n.incrementAndGet();
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
