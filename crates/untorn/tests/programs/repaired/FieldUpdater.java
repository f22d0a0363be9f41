package repaired;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: get and set through a field updater. */
public class FieldUpdater {
    static class Counter {
        static final AtomicIntegerFieldUpdater<Counter> N = AtomicIntegerFieldUpdater.newUpdater(Counter.class, "n");
        volatile int n;
        void increment() {
            Pause.here();
            N.incrementAndGet(this);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
