package repaired;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import schedule.Pause;

/** Repaired: Bag.addOnce is one step now; before: contains and add of a synchronized collection. */
public class CollectionDeclared {
    static class Bag {
        final Collection<String> items = Collections.synchronizedCollection(new ArrayList<>());
        void addOnce(String item) {
            synchronized (items) {
                if (!items.contains(item)) {
                    Pause.here();
                    items.add(item);
                }
            }
        }
    }

    public static void main(String[] args) {
        Bag c = new Bag();
        Pause.race(() -> c.addOnce("i"), () -> c.addOnce("i"));
    }
}
