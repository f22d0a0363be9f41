package whole;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import schedule.Pause;

/** Whole: a CopyOnWriteArrayList that is iterated. */
public class CopyOnWriteList {
    static class Listeners {
        private final List<String> all = new CopyOnWriteArrayList<>();
        void add(String one) {
            all.add(one);
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
