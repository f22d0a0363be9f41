package torn;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Torn: Counter.increment: get and set of an AtomicInteger. */
public class AtomicGetSet {
    static class Counter {
        final AtomicInteger n = new AtomicInteger();
        void increment() {
            int was = n.get();
            Pause.here();
            n.set(was + 1);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
