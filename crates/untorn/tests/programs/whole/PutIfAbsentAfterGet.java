package whole;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import schedule.Pause;

/** Whole: putIfAbsent after get. */
public class PutIfAbsentAfterGet {
    static class Cache {
        private final ConcurrentMap<String, Object> values = new ConcurrentHashMap<>();
        Object get(String key) {
            Object value = values.get(key);
            if (value == null) {
                Pause.here();
                Object made = new Object();
                Object other = values.putIfAbsent(key, made);
                value = other == null ? made : other;
            }
            return value;
        }
    }

    public static void main(String[] args) {
        Cache c = new Cache();
        Pause.race(() -> c.get("k"), () -> c.get("k"));
    }
}
