package repaired;

import schedule.Pause;

/** Repaired: Ids.take is one step now; before: the same number is given out twice. */
public class LongIds {
    static class Ids {
        long next;
        synchronized long take() {
            long id = next;
            Pause.here();
            next = id + 1;
            return id;
        }
    }

    public static void main(String[] args) {
        Ids c = new Ids();
        Pause.race(() -> c.take(), () -> c.take());
    }
}
