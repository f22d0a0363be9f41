package repaired;

import java.util.Vector;
import schedule.Pause;

/** Repaired: Names.addOnce is one step now; before: contains and add of a Vector. */
public class VectorAddIfAbsent {
    static class Names {
        final Vector<String> all = new Vector<>();
        void addOnce(String name) {
            synchronized (all) {
                if (!all.contains(name)) {
                    Pause.here();
                    all.add(name);
                }
            }
        }
    }

    public static void main(String[] args) {
        Names c = new Names();
        Pause.race(() -> c.addOnce("a"), () -> c.addOnce("a"));
    }
}
