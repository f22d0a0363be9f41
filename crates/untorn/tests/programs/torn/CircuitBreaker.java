package torn;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Torn: Breaker.fail: a reset comes between the count and the switch. */
public class CircuitBreaker {
    static class Breaker {
        private final AtomicInteger failures = new AtomicInteger();
        private volatile boolean open;
        void fail() {
            if (failures.incrementAndGet() > 0) {
                Pause.here();
                open = true;
            }
        }
        void reset() {
            failures.set(0);
            open = false;
        }
    }

    public static void main(String[] args) {
        Breaker c = new Breaker();
        Pause.race(() -> c.fail(), () -> c.reset());
    }
}
