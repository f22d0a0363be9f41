package torn;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Torn: Books.move: two keys of one map. */
public class TwoKeys {
    static class Books {
        final ConcurrentHashMap<String, Integer> of = new ConcurrentHashMap<>(Map.of("a", 5, "b", 5));
        void move(int n) {
            of.merge("a", -n, Integer::sum);
            Pause.here();
            of.merge("b", n, Integer::sum);
        }
        int total() {
            return of.get("a") + of.get("b");
        }
    }

    public static void main(String[] args) {
        Books c = new Books();
        Pause.race(() -> c.move(2), () -> c.total());
    }
}
