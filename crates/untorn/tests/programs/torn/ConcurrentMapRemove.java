package torn;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import schedule.Pause;

/** Torn: Stock.take: get and remove of a ConcurrentMap. */
public class ConcurrentMapRemove {
    static class Stock {
        final ConcurrentMap<String, Integer> items = new ConcurrentHashMap<>(Map.of("i", 7));
        Integer take(String name) {
            Integer item = items.get(name);
            if (item != null) {
                Pause.here();
                items.remove(name);
            }
            return item;
        }
    }

    public static void main(String[] args) {
        Stock c = new Stock();
        Pause.race(() -> c.take("i"), () -> c.take("i"));
    }
}
