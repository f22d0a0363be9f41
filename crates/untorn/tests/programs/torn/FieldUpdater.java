package torn;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import schedule.Pause;

/** Torn: Counter.increment: get and set through a field updater. */
public class FieldUpdater {
    static class Counter {
        static final AtomicIntegerFieldUpdater<Counter> N = AtomicIntegerFieldUpdater.newUpdater(Counter.class, "n");
        volatile int n;
        void increment() {
            int was = N.get(this);
            Pause.here();
            N.set(this, was + 1);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
