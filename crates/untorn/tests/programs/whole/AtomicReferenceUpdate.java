package whole;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import schedule.Pause;

/** Whole: an immutable list replaced by updateAndGet. */
public class AtomicReferenceUpdate {
    static class Log {
        private final AtomicReference<List<String>> lines = new AtomicReference<>(List.of());
        void add(String line) {
            lines.updateAndGet(was -> {
                List<String> copy = new ArrayList<>(was);
                copy.add(line);
                return List.copyOf(copy);
            });
        }
        int size() {
            return lines.get().size();
        }
    }

    public static void main(String[] args) {
        Log c = new Log();
        Pause.race(() -> c.add("a"), () -> { c.add("b"); c.size(); });
    }
}
