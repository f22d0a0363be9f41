package torn;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Torn: Limiter.acquire: the last permit is given out twice. */
public class PermitLimiter {
    static class Limiter {
        private final AtomicInteger free = new AtomicInteger(1);
        boolean acquire() {
            if (free.get() > 0) {
                Pause.here();
                free.decrementAndGet();
                return true;
            }
            return false;
        }
    }

    public static void main(String[] args) {
        Limiter c = new Limiter();
        Pause.race(() -> c.acquire(), () -> c.acquire());
    }
}
