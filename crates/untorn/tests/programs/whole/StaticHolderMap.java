package whole;

import java.util.HashMap;
import java.util.Map;
import schedule.Pause;

/** Whole: a static map under the lock of its class. */
public class StaticHolderMap {
    private static final Map<String, Integer> CACHE = new HashMap<>();
    static Integer lookUp(String key) {
        synchronized (StaticHolderMap.class) {
            Integer known = CACHE.get(key);
            if (known == null) {
                known = key.length();
                Pause.here();
                CACHE.put(key, known);
            }
            return known;
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> lookUp("a"), () -> lookUp("a"));
    }
}
