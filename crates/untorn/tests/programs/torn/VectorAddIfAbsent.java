package torn;

import java.util.Vector;
import schedule.Pause;

/** Torn: Names.addOnce: contains and add of a Vector. */
public class VectorAddIfAbsent {
    static class Names {
        final Vector<String> all = new Vector<>();
        void addOnce(String name) {
            if (!all.contains(name)) {
                Pause.here();
                all.add(name);
            }
        }
    }

    public static void main(String[] args) {
        Names c = new Names();
        Pause.race(() -> c.addOnce("a"), () -> c.addOnce("a"));
    }
}
