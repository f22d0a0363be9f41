package whole;

import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Whole: compute holds the entry while it counts. */
public class PerKeyLock {
    static class Visits {
        private final ConcurrentHashMap<String, int[]> byPage = new ConcurrentHashMap<>();
        void visit(String page) {
            byPage.compute(page, (key, was) -> new int[] {was == null ? 1 : was[0] + 1});
        }
    }

    public static void main(String[] args) {
        Visits c = new Visits();
        Pause.race(() -> c.visit("p"), () -> c.visit("p"));
    }
}
