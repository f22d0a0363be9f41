package whole;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Whole: retained only while somebody holds it, and closed by the last one. */
public class ReferenceCount {
    static class Shared {
        private final AtomicInteger holders = new AtomicInteger(1);
        private volatile boolean closed;
        boolean retain() {
            int now;
            do {
                now = holders.get();
                if (now == 0) {
                    return false;
                }
                Pause.here();
            } while (!holders.compareAndSet(now, now + 1));
            return true;
        }
        void release() {
            if (holders.decrementAndGet() == 0) {
                closed = true;
            }
        }
    }

    public static void main(String[] args) {
        Shared c = new Shared();
        Pause.race(() -> { if (c.retain()) { c.release(); } }, () -> { if (c.retain()) { c.release(); } });
    }
}
