import com.hazelcast.monitor.impl.LocalMapStatsImpl;

/** Two threads count reads of a map with ever higher latencies: the highest one is read, compared and set in two steps. */
public class HazelcastStats {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            LocalMapStatsImpl statistics = new LocalMapStatsImpl();
            Runnable count = () -> {
                for (int i = 1; i <= 400; i++) {
                    statistics.incrementGets(i);
                }
            };
            return new Runnable[] {count, count};
        });
    }
}
