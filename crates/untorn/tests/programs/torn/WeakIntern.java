package torn;

import java.util.Map;
import java.util.WeakHashMap;
import schedule.Pause;

/** Torn: Intern.of: two threads get different objects for one name. */
public class WeakIntern {
    static class Intern {
        private static final Map<String, Object> KNOWN = new WeakHashMap<>();
        static Object of(String name) {
            synchronized (KNOWN) {
                Object known = KNOWN.get(name);
                if (known != null) {
                    return known;
                }
            }
            Pause.here();
            Object made = new Object();
            synchronized (KNOWN) {
                KNOWN.put(name, made);
            }
            return made;
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> Intern.of("a"), () -> Intern.of("a"));
    }
}
