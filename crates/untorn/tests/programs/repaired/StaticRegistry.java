package repaired;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Repaired: StaticRegistry.register is one step now; before: containsKey and put of a static map. */
public class StaticRegistry {
    static final Map<String, Object> ALL = new ConcurrentHashMap<>();
    static Object register(String name) {
        Pause.here();
        return ALL.computeIfAbsent(name, key -> new Object());
    }

    public static void main(String[] args) {
        Pause.race(() -> register("x"), () -> register("x"));
    }
}
