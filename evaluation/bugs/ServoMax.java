import com.netflix.servo.monitor.MaxGauge;
import com.netflix.servo.monitor.MonitorConfig;

/** Two threads update a gauge with ever higher values: the maximum is read, compared and set in two steps. */
public class ServoMax {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            MaxGauge gauge = new MaxGauge(MonitorConfig.builder("gauge").build());
            Runnable update = () -> {
                for (int i = 1; i <= 400; i++) {
                    gauge.update(i);
                }
            };
            return new Runnable[] {update, update};
        });
    }
}
