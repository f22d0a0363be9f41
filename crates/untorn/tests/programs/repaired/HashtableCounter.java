package repaired;

import java.util.Hashtable;
import schedule.Pause;

/** Repaired: Words.count is one step now; before: get and put of a Hashtable. */
public class HashtableCounter {
    static class Words {
        final Hashtable<String, Integer> counts = new Hashtable<>();
        void count(String word) {
            synchronized (counts) {
                Integer old = counts.get(word);
                Pause.here();
                counts.put(word, old == null ? 1 : old + 1);
            }
        }
    }

    public static void main(String[] args) {
        Words c = new Words();
        Pause.race(() -> c.count("w"), () -> c.count("w"));
    }
}
