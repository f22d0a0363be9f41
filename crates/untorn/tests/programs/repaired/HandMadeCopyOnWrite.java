package repaired;

import java.util.Arrays;
import schedule.Pause;

/** Repaired: Listeners.add is one step now; before: an array is copied and replaced without a lock. */
public class HandMadeCopyOnWrite {
    static class Listeners {
        private volatile Runnable[] all = {};
        synchronized void add(Runnable one) {
            Runnable[] now = all;
            Runnable[] more = Arrays.copyOf(now, now.length + 1);
            more[now.length] = one;
            Pause.here();
            all = more;
        }
        void fire() {
            for (Runnable one : all) {
                one.run();
            }
        }
    }

    public static void main(String[] args) {
        Listeners c = new Listeners();
        Pause.race(() -> c.add(() -> {}), () -> c.add(() -> {}));
    }
}
