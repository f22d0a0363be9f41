package whole;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: a count is one call of the map, whatever it does to its entry and its size. */
public class MergedWords {
    static class Words {
        private final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>();
        void count(String word) {
            counts.merge(word, 1, (a, b) -> {
                Pause.here();
                return a + b;
            });
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        c.count("a");
        Pause.race(() -> c.count("a"), () -> c.count("b"));
    }
}
