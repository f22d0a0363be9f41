package whole;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import schedule.Pause;

/** Whole: a synchronized list iterated under its own lock. */
public class ClientSideLock {
    static class Names {
        private final List<String> all = Collections.synchronizedList(new ArrayList<>(List.of("a")));
        void add(String name) {
            all.add(name);
        }
        int lengths() {
            synchronized (all) {
                int sum = 0;
                for (String name : all) {
                    sum += name.length();
                    Pause.here();
                }
                return sum;
            }
        }
    }

    public static void main(String[] args) {
        Names c = new Names();
        Pause.race(() -> c.lengths(), () -> c.add("b"));
    }
}
