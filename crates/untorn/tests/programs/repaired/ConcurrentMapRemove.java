package repaired;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import schedule.Pause;

/** Repaired: Stock.take is one step now; before: get and remove of a ConcurrentMap. */
public class ConcurrentMapRemove {
    static class Stock {
        final ConcurrentMap<String, Integer> items = new ConcurrentHashMap<>(Map.of("i", 7));
        Integer take(String name) {
            Pause.here();
            return items.remove(name);
        }
    }

    public static void main(String[] args) {
        Stock c = new Stock();
        Pause.race(() -> c.take("i"), () -> c.take("i"));
    }
}
