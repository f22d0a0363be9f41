package repaired;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Repaired: Limiter.acquire is one step now; before: the last permit is given out twice. */
public class PermitLimiter {
    static class Limiter {
        private final AtomicInteger free = new AtomicInteger(1);
        boolean acquire() {
            int was = free.get();
            while (was > 0) {
                if (free.compareAndSet(was, was - 1)) {
                    return true;
                }
                was = free.get();
            }
            return false;
        }
    }

    public static void main(String[] args) {
        Limiter c = new Limiter();
        Pause.race(() -> c.acquire(), () -> c.acquire());
    }
}
