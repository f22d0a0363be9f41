package torn;

import java.util.concurrent.CopyOnWriteArrayList;
import schedule.Pause;

/** Torn: Listeners.add: contains and add of a CopyOnWriteArrayList. */
public class CopyOnWriteContains {
    static class Listeners {
        final CopyOnWriteArrayList<String> all = new CopyOnWriteArrayList<>();
        void add(String one) {
            if (!all.contains(one)) {
                Pause.here();
                all.add(one);
            }
        }
    }

    public static void main(String[] args) {
        Listeners c = new Listeners();
        Pause.race(() -> c.add("l"), () -> c.add("l"));
    }
}
