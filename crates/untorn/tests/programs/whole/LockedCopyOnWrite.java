package whole;

import java.util.Arrays;
import schedule.Pause;

/** Whole: writers copy the array under a lock, readers read it once. */
public class LockedCopyOnWrite {
    static class Listeners {
        private volatile Runnable[] all = {};
        synchronized void add(Runnable one) {
            Runnable[] now = all;
            Runnable[] more = Arrays.copyOf(now, now.length + 1);
            more[now.length] = one;
            Pause.here();
            all = more;
        }
        int fire() {
            Runnable[] now = all;
            for (Runnable one : now) {
                one.run();
            }
            return now.length;
        }
    }

    public static void main(String[] args) {
        Listeners c = new Listeners();
        Pause.race(() -> c.add(() -> {}), () -> c.fire());
    }
}
