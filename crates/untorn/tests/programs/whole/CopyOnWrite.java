package whole;

import java.util.Arrays;
import schedule.Pause;

/** Whole: a copied array behind a volatile field, written under a lock. */
public class CopyOnWrite {
    static class Listeners {
        private volatile String[] all = {};
        synchronized void add(String one) {
            String[] more = Arrays.copyOf(all, all.length + 1);
            more[all.length] = one;
            all = more;
        }
        int lengths() {
            int sum = 0;
            for (String one : all) {
                sum += one.length();
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Listeners c = new Listeners();
        Pause.race(() -> c.add("a"), () -> c.lengths());
    }
}
