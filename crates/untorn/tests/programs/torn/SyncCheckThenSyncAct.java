package torn;

import java.util.ArrayList;
import java.util.List;
import schedule.Pause;

/** Torn: Names.addOnce: checked under one hold of the lock, added under another. */
public class SyncCheckThenSyncAct {
    static class Names {
        private final List<String> all = new ArrayList<>();
        synchronized boolean has(String name) {
            return all.contains(name);
        }
        synchronized void add(String name) {
            all.add(name);
        }
        void addOnce(String name) {
            if (!has(name)) {
                Pause.here();
                add(name);
            }
        }
    }

    public static void main(String[] args) {
        Names c = new Names();
        Pause.race(() -> c.addOnce("a"), () -> c.addOnce("a"));
    }
}
