import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Avg;

/** One thread records values of a sensor while another one reads the average of its samples; each holds a lock of its own. */
public class KafkaSampled {
    public static void main(String[] arguments) throws Exception {
        Metrics metrics = new Metrics();
        MetricConfig config = new MetricConfig().samples(2).timeWindow(2, TimeUnit.MILLISECONDS);
        Rounds.race(150, 2, number -> {
            Sensor sensor = metrics.sensor("sensor-" + number);
            MetricName name = metrics.metricName("average-" + number, "group");
            sensor.add(name, new Avg(), config);
            KafkaMetric metric = metrics.metric(name);
            long start = System.currentTimeMillis();
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 200; i++) {
                        sensor.record(i, start + i);
                    }
                },
                () -> {
                    for (int i = 0; i < 200; i++) {
                        metric.metricValue();
                    }
                },
            };
        });
    }
}
