import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** Two threads make the same counter and count: one gets it before it has the children that its counts go to. */
public class MicrometerMeters {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            CompositeMeterRegistry registry = new CompositeMeterRegistry();
            registry.add(new SimpleMeterRegistry());
            Runnable count = () -> registry.counter("requests").increment();
            return new Runnable[] {count, count};
        });
    }
}
