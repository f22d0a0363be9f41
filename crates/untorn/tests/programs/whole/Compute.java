package whole;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: compute of a concurrent map. */
public class Compute {
    static class Stock {
        private final ConcurrentHashMap<String, Integer> left = new ConcurrentHashMap<>(Map.of("i", 2));
        void take(String name) {
            left.compute(name, (key, n) -> n == null || n <= 1 ? null : n - 1);
        }
    }

    public static void main(String[] args) {
        Stock c = new Stock();
        Pause.race(() -> c.take("i"), () -> c.take("i"));
    }
}
