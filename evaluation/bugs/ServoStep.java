import com.netflix.servo.monitor.MonitorConfig;
import com.netflix.servo.monitor.StepCounter;

/** Two threads count while a step ends: which slot is the current one is found in several reads, and what was counted there is thrown away. */
public class ServoStep {
    public static void main(String[] arguments) throws Exception {
        System.setProperty("servo.pollers", "1,2");
        Rounds.race(300, 2, number -> {
            StepCounter counter = new StepCounter(MonitorConfig.builder("counter").build());
            Runnable count = () -> {
                for (int i = 0; i < 100; i++) {
                    counter.increment();
                }
            };
            return new Runnable[] {count, count};
        });
    }
}
