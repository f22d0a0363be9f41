package torn;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Torn: Words.count: get and put of a ConcurrentHashMap. */
public class ConcurrentMapCounter {
    static class Words {
        final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>();
        void count(String word) {
            Integer old = counts.get(word);
            Pause.here();
            counts.put(word, old == null ? 1 : old + 1);
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        Pause.race(() -> c.count("w"), () -> c.count("w"));
    }
}
