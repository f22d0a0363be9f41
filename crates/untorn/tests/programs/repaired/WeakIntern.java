package repaired;

import java.util.Map;
import java.util.WeakHashMap;
import schedule.Pause;

/** Repaired: Intern.of is one step now; before: two threads get different objects for one name. */
public class WeakIntern {
    static class Intern {
        private static final Map<String, Object> KNOWN = new WeakHashMap<>();
        static Object of(String name) {
            synchronized (KNOWN) {
                Object known = KNOWN.get(name);
                if (known == null) {
                    Pause.here();
                    known = new Object();
                    KNOWN.put(name, known);
                }
                return known;
            }
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> Intern.of("a"), () -> Intern.of("a"));
    }
}
