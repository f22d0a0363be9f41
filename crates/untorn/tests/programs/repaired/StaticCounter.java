package repaired;

import schedule.Pause;

/** Repaired: StaticCounter.next is one step now; before: two callers get one id. */
public class StaticCounter {
    static int last;
    static int next() {
        synchronized (StaticCounter.class) {
            int id = last;
            Pause.here();
            last = id + 1;
            return id;
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> next(), () -> next());
    }
}
