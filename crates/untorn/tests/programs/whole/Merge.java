package whole;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: merge of a concurrent map. */
public class Merge {
    static class Words {
        private final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>();
        void count(String word) {
            counts.merge(word, 1, Integer::sum);
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        Pause.race(() -> c.count("w"), () -> c.count("w"));
    }
}
