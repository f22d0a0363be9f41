package whole;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import schedule.Pause;

/** Whole: a maximum kept by compareAndSet of a field updater. */
public class UpdaterMaximum {
    static class Peak {
        private static final AtomicIntegerFieldUpdater<Peak> MOST =
            AtomicIntegerFieldUpdater.newUpdater(Peak.class, "most");
        private volatile int most;
        void see(int value) {
            for (;;) {
                int now = most;
                if (value <= now) {
                    return;
                }
                Pause.here();
                if (MOST.compareAndSet(this, now, value)) {
                    return;
                }
            }
        }
    }

    public static void main(String[] args) {
        Peak c = new Peak();
        Pause.race(() -> c.see(3), () -> c.see(4));
    }
}
