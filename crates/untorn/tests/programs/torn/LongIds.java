package torn;

import schedule.Pause;

/** Torn: Ids.take: the same number is given out twice. */
public class LongIds {
    static class Ids {
        long next;
        long take() {
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
