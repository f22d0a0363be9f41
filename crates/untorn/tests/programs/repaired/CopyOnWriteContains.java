package repaired;

import java.util.concurrent.CopyOnWriteArrayList;
import schedule.Pause;

/** Repaired: Listeners.add is one step now; before: contains and add of a CopyOnWriteArrayList. */
public class CopyOnWriteContains {
    static class Listeners {
        final CopyOnWriteArrayList<String> all = new CopyOnWriteArrayList<>();
        void add(String one) {
            Pause.here();
            all.addIfAbsent(one);
        }
    }

    public static void main(String[] args) {
        Listeners c = new Listeners();
        Pause.race(() -> c.add("l"), () -> c.add("l"));
    }
}
