package whole;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: remove with the expected value. */
public class RemoveConditionally {
    static class Sessions {
        private final ConcurrentHashMap<String, String> all = new ConcurrentHashMap<>();
        boolean close(String id) {
            String owner = all.get(id);
            Pause.here();
            return owner != null && all.remove(id, owner);
        }
        void open(String id, String owner) {
            all.putIfAbsent(id, owner);
        }
    }

    public static void main(String[] args) {
        Sessions c = new Sessions();
        c.open("s", "a");
        Pause.race(() -> c.close("s"), () -> c.close("s"));
    }
}
