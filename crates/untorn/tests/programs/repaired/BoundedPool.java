package repaired;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Repaired: Pool.borrow is one step now; before: more is lent than there is. */
public class BoundedPool {
    static class Pool {
        private final AtomicInteger lent = new AtomicInteger();
        boolean borrow() {
            Pause.here();
            int now;
            do {
                now = lent.get();
                if (now >= 1) {
                    return false;
                }
            } while (!lent.compareAndSet(now, now + 1));
            return true;
        }
    }

    public static void main(String[] args) {
        Pool c = new Pool();
        Pause.race(() -> c.borrow(), () -> c.borrow());
    }
}
