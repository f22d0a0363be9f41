package whole;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: a map entry changed by replace with the old value in a loop. */
public class ReplaceThree {
    static class Words {
        private final ConcurrentHashMap<String, Integer> counts = new ConcurrentHashMap<>();
        void count(String word) {
            counts.putIfAbsent(word, 0);
            int was;
            do {
                was = counts.get(word);
                Pause.here();
            } while (!counts.replace(word, was, was + 1));
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        Pause.race(() -> c.count("a"), () -> c.count("a"));
    }
}
