package repaired;

import java.util.ArrayList;
import java.util.List;
import schedule.Pause;

/** Repaired: Basket.add is one step now; before: the count and the list disagree. */
public class CountBesideList {
    static class Basket {
        final List<String> items = new ArrayList<>();
        int count;
        synchronized void add(String item) {
            items.add(item);
            Pause.here();
            count = items.size();
        }
        synchronized boolean agrees() {
            return count == items.size();
        }
    }

    public static void main(String[] args) {
        Basket c = new Basket();
        Pause.race(() -> c.add("a"), () -> c.add("b"));
    }
}
