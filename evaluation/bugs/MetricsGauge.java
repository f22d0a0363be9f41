import com.codahale.metrics.CachedGauge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Two threads ask a new gauge: the first one says that the value is loaded before it is, and the second one gets null. */
public class MetricsGauge {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(100, 2, number -> {
            List<CachedGauge<String>> gauges = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                gauges.add(new Loading());
            }
            Runnable ask = () -> gauges.forEach(CachedGauge::getValue);
            return new Runnable[] {ask, ask};
        });
    }

    static final class Loading extends CachedGauge<String> {
        Loading() {
            super(1, TimeUnit.HOURS);
        }

        @Override
        protected String loadValue() {
            return "loaded";
        }
    }
}
