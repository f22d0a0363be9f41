package repaired;

import java.util.concurrent.atomic.AtomicInteger;
import schedule.Pause;

/** Repaired: Breaker.fail is one step now; before: a reset comes between the count and the switch. */
public class CircuitBreaker {
    static class Breaker {
        private final AtomicInteger failures = new AtomicInteger();
        private volatile boolean open;
        synchronized void fail() {
            if (failures.incrementAndGet() > 0) {
                Pause.here();
                open = true;
            }
        }
        synchronized void reset() {
            failures.set(0);
            open = false;
        }
    }

    public static void main(String[] args) {
        Breaker c = new Breaker();
        Pause.race(() -> c.fail(), () -> c.reset());
    }
}
