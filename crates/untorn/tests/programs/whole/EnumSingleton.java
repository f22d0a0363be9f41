package whole;

import schedule.Pause;

/** Whole: an enum is its own only instance. */
public class EnumSingleton {
    enum Ids {
        ONLY;
        private int next;
        synchronized int take() {
            return next++;
        }
    }

    public static void main(String[] args) {
        Pause.race(() -> Ids.ONLY.take(), () -> Ids.ONLY.take());
    }
}
