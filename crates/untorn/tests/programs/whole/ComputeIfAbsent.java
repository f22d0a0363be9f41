package whole;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: computeIfAbsent. */
public class ComputeIfAbsent {
    static class Cache {
        private final Map<String, Object> values = new ConcurrentHashMap<>();
        Object get(String key) {
            return values.computeIfAbsent(key, k -> new Object());
        }
    }

    public static void main(String[] args) {
        Cache c = new Cache();
        Pause.race(() -> c.get("k"), () -> c.get("k"));
    }
}
