package whole;

import java.util.ArrayList;
import java.util.List;
import schedule.Pause;

/** Whole: copied under the lock, used outside. */
public class SnapshotUnderLock {
    static class Names {
        private final List<String> all = new ArrayList<>(List.of("a"));
        synchronized void add(String name) {
            all.add(name);
        }
        int lengths() {
            List<String> copy;
            synchronized (this) {
                copy = new ArrayList<>(all);
            }
            Pause.here();
            int sum = 0;
            for (String name : copy) {
                sum += name.length();
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Names c = new Names();
        Pause.race(() -> c.lengths(), () -> c.add("b"));
    }
}
