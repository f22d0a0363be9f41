package torn;

import java.util.concurrent.ConcurrentSkipListSet;
import schedule.Pause;

/** Torn: Ids.claim: contains and add of a ConcurrentSkipListSet. */
public class SkipListSetAdd {
    static class Ids {
        final ConcurrentSkipListSet<Integer> used = new ConcurrentSkipListSet<>();
        boolean claim(int id) {
            if (used.contains(id)) {
                return false;
            }
            Pause.here();
            used.add(id);
            return true;
        }
    }

    public static void main(String[] args) {
        Ids c = new Ids();
        Pause.race(() -> c.claim(4), () -> c.claim(4));
    }
}
