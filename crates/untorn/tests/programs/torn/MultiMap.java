package torn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Torn: Registry.subscribe: the second list replaces the first one and its subscriber. */
public class MultiMap {
    static class Registry {
        private final Map<String, List<String>> byTopic = new ConcurrentHashMap<>();
        void subscribe(String topic, String who) {
            List<String> all = byTopic.get(topic);
            if (all == null) {
                all = Collections.synchronizedList(new ArrayList<>());
                Pause.here();
                byTopic.put(topic, all);
            }
            all.add(who);
        }
    }

    public static void main(String[] args) {
        Registry c = new Registry();
        Pause.race(() -> c.subscribe("t", "a"), () -> c.subscribe("t", "b"));
    }
}
