package torn;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Torn: Pool.borrow: more is lent than there is. */
public class BoundedPool {
    static class Pool {
        private final AtomicInteger lent = new AtomicInteger();
        boolean borrow() {
            if (lent.get() >= 1) {
                return false;
            }
            Pause.here();
            lent.incrementAndGet();
            return true;
        }
    }

    public static void main(String[] args) {
        Pool c = new Pool();
        Pause.race(() -> c.borrow(), () -> c.borrow());
    }
}
