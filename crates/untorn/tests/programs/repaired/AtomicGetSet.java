package repaired;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: get and set of an AtomicInteger. */
public class AtomicGetSet {
    static class Counter {
        final AtomicInteger n = new AtomicInteger();
        void increment() {
            Pause.here();
            n.incrementAndGet();
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
