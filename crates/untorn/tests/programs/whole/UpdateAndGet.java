package whole;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import schedule.Pause;

/** Whole: updateAndGet of an immutable value. */
public class UpdateAndGet {
    static class Names {
        private final AtomicReference<Set<String>> all = new AtomicReference<>(Set.of());
        void add(String name) {
            all.updateAndGet(old -> { Set<String> more = new HashSet<>(old); more.add(name); return Set.copyOf(more); });
        }
    }

    public static void main(String[] args) {
        Names c = new Names();
        Pause.race(() -> c.add("a"), () -> c.add("b"));
    }
}
