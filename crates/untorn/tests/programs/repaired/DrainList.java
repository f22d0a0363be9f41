package repaired;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import schedule.Pause;

/** Repaired: Buffer.drain is one step now; before: what is added between the copy and the clearing is lost. */
public class DrainList {
    static class Buffer {
        private final List<String> items = Collections.synchronizedList(new ArrayList<>(List.of("a")));
        synchronized List<String> drain() {
            List<String> all = new ArrayList<>(items);
            Pause.here();
            items.clear();
            return all;
        }
        synchronized void add(String item) {
            items.add(item);
        }
    }

    public static void main(String[] args) {
        Buffer c = new Buffer();
        Pause.race(() -> c.drain(), () -> c.add("b"));
    }
}
