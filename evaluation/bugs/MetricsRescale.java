import com.codahale.metrics.Clock;
import com.codahale.metrics.ExponentiallyDecayingReservoir;
import java.util.concurrent.TimeUnit;

/** Two updates after an idle hour: the one that rescales says so before it has the lock, and the other one slips in between. */
public class MetricsRescale {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(400, 2, number -> {
            Idle clock = new Idle();
            ExponentiallyDecayingReservoir reservoir = new ExponentiallyDecayingReservoir(10, 0.015, clock);
            for (int i = 0; i < 20; i++) {
                reservoir.update(i);
            }
            clock.hours = 2;
            Runnable update = () -> {
                for (int i = 0; i < 5; i++) {
                    reservoir.update(i);
                }
            };
            return new Runnable[] {update, update};
        });
    }

    static final class Idle extends Clock {
        volatile long hours;

        @Override
        public long getTick() {
            return TimeUnit.HOURS.toNanos(hours);
        }

        @Override
        public long getTime() {
            return TimeUnit.HOURS.toMillis(hours);
        }
    }
}
