import com.netflix.servo.monitor.MinGauge;
import com.netflix.servo.monitor.MonitorConfig;

/** Two threads update a gauge with ever lower values: the minimum is read, compared and set in two steps. */
public class ServoMin {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            MinGauge gauge = new MinGauge(MonitorConfig.builder("gauge").build());
            Runnable update = () -> {
                for (int i = 1; i <= 400; i++) {
                    gauge.update(-i);
                }
            };
            return new Runnable[] {update, update};
        });
    }
}
