package repaired;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Repaired: Words.count is one step now; before: get and put of a ConcurrentHashMap. */
public class ConcurrentMapCounter {
    static class Words {
        final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>();
        void count(String word) {
            Pause.here();
            counts.merge(word, 1, Integer::sum);
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        Pause.race(() -> c.count("w"), () -> c.count("w"));
    }
}
