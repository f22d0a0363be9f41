package torn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import schedule.Pause;

/** Torn: Basket.add: the count and the list disagree. */
public class CountBesideList {
    static class Basket {
        final List<String> items = Collections.synchronizedList(new ArrayList<>());
        volatile int count;
        void add(String item) {
            items.add(item);
            Pause.here();
            count = items.size();
        }
        boolean agrees() {
            return count == items.size();
        }
    }

    public static void main(String[] args) {
        Basket c = new Basket();
        Pause.race(() -> c.add("a"), () -> c.add("b"));
    }
}
