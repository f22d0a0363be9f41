package repaired;

import java.util.HashMap;
import java.util.Map;
import schedule.Pause;

/** Repaired: Books.move is one step now; before: two keys of one map. */
public class TwoKeys {
    static class Books {
        final HashMap<String, Integer> of = new HashMap<>(Map.of("a", 5, "b", 5));
        synchronized void move(int n) {
            of.merge("a", -n, Integer::sum);
            Pause.here();
            of.merge("b", n, Integer::sum);
        }
        synchronized int total() {
            return of.get("a") + of.get("b");
        }
    }

    public static void main(String[] args) {
        Books c = new Books();
        Pause.race(() -> c.move(2), () -> c.total());
    }
}
