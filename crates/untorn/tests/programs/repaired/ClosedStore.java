package repaired;

import java.util.HashMap;
import java.util.Map;
import schedule.Pause;

/** Repaired: Store.open is one step now; before: an entry is added after the store was closed. */
public class ClosedStore {
    static class Store {
        private boolean closed;
        private final Map<String, String> entries = new HashMap<>();
        private synchronized void checkOpen() {
            if (closed) {
                throw new IllegalStateException("closed");
            }
        }
        private synchronized String entry(String key) {
            String entry = entries.get(key);
            if (entry == null) {
                entry = key + "!";
                entries.put(key, entry);
            }
            return entry;
        }
        synchronized String open(String key) {
            checkOpen();
            Pause.here();
            return entry(key);
        }
        synchronized void shutdown() {
            entries.clear();
            closed = true;
        }
    }

    public static void main(String[] args) {
        Store c = new Store();
        Pause.race(() -> c.open("a"), () -> c.shutdown());
    }
}
