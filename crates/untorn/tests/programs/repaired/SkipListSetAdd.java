package repaired;

import java.util.concurrent.ConcurrentSkipListSet;
import schedule.Pause;

/** Repaired: Ids.claim is one step now; before: contains and add of a ConcurrentSkipListSet. */
public class SkipListSetAdd {
    static class Ids {
        final ConcurrentSkipListSet<Integer> used = new ConcurrentSkipListSet<>();
        boolean claim(int id) {
            Pause.here();
            return used.add(id);
        }
    }

    public static void main(String[] args) {
        Ids c = new Ids();
        Pause.race(() -> c.claim(4), () -> c.claim(4));
    }
}
