package torn;

import java.util.HashMap;
import java.util.Map;
import schedule.Pause;

/** Torn: Config.put: two copies are made of one map, and one of them is lost. */
public class CopyOnWriteMap {
    static class Config {
        volatile Map<String, String> values = Map.of("a", "1");
        void put(String key, String value) {
            Map<String, String> copy = new HashMap<>(values);
            copy.put(key, value);
            Pause.here();
            values = copy;
        }
    }

    public static void main(String[] args) {
        Config c = new Config();
        Pause.race(() -> c.put("x", "1"), () -> c.put("y", "2"));
    }
}
