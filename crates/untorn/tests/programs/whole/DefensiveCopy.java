package whole;

import java.util.ArrayList;
import java.util.List;
import schedule.Pause;

/** Whole: a snapshot is copied under the lock and used outside. */
public class DefensiveCopy {
    static class Listeners {
        private final List<Runnable> all = new ArrayList<>();
        synchronized void add(Runnable one) {
            all.add(one);
        }
        void fire() {
            List<Runnable> now;
            synchronized (this) {
                now = new ArrayList<>(all);
            }
            Pause.here();
            for (Runnable one : now) {
                one.run();
            }
        }
    }

    public static void main(String[] args) {
        Listeners c = new Listeners();
        c.add(() -> { });
        Pause.race(() -> c.fire(), () -> c.add(() -> { }));
    }
}
