package repaired;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Repaired: Registry.subscribe is one step now; before: the second list replaces the first one and its subscriber. */
public class MultiMap {
    static class Registry {
        private final Map<String, List<String>> byTopic = new ConcurrentHashMap<>();
        void subscribe(String topic, String who) {
            byTopic.computeIfAbsent(topic, key -> Collections.synchronizedList(new ArrayList<>())).add(who);
        }
    }

    public static void main(String[] args) {
        Registry c = new Registry();
        Pause.race(() -> c.subscribe("t", "a"), () -> c.subscribe("t", "b"));
    }
}
