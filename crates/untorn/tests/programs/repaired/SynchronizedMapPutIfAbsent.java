package repaired;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import schedule.Pause;

/** Repaired: Cache.get is one step now; before: get and put of a synchronized map. */
public class SynchronizedMapPutIfAbsent {
    static class Cache {
        final Map<String, Object> values = Collections.synchronizedMap(new HashMap<>());
        Object get(String key) {
            synchronized (values) {
                Object value = values.get(key);
                if (value == null) {
                    Pause.here();
                    value = new Object();
                    values.put(key, value);
                }
                return value;
            }
        }
    }

    public static void main(String[] args) {
        Cache c = new Cache();
        Pause.race(() -> c.get("k"), () -> c.get("k"));
    }
}
