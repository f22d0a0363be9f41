package whole;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: a loop around replace of a concurrent map. */
public class ReplaceLoop {
    static class Words {
        private final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>(Map.of("w", 0));
        void count(String word) {
            Integer old;
            do {
                old = counts.get(word);
                Pause.here();
            } while (!counts.replace(word, old, old + 1));
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        Pause.race(() -> c.count("w"), () -> c.count("w"));
    }
}
