import com.codahale.metrics.SlidingTimeWindowReservoir;
import java.util.concurrent.TimeUnit;

/** A snapshot asks the map of measurements for its size and then copies what is in it, while values are added. */
public class MetricsWindow {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(300, 2, number -> {
            SlidingTimeWindowReservoir reservoir = new SlidingTimeWindowReservoir(1, TimeUnit.HOURS);
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 50; i++) {
                        reservoir.update(i);
                    }
                },
                () -> {
                    for (int i = 0; i < 10; i++) {
                        reservoir.getSnapshot();
                    }
                },
            };
        });
    }
}
