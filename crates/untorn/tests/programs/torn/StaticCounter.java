package torn;

import schedule.Pause;

/** Torn: StaticCounter.next: two callers get one id. */
public class StaticCounter {
    static int last;
    static int next() {
        int id = last;
        Pause.here();
        last = id + 1;
        return id;
    }

    public static void main(String[] args) {
        Pause.race(() -> next(), () -> next());
    }
}
