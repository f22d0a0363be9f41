package torn;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Torn: StaticRegistry.register: containsKey and put of a static map. */
public class StaticRegistry {
    static final Map<String, Object> ALL = new ConcurrentHashMap<>();
    static Object register(String name) {
        if (!ALL.containsKey(name)) {
            Pause.here();
            ALL.put(name, new Object());
        }
        return ALL.get(name);
    }

    public static void main(String[] args) {
        Pause.race(() -> register("x"), () -> register("x"));
    }
}
