package torn;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import schedule.Pause;

/** Torn: Servers.next: while it is moved to the end, others see one server less. */
public class RoundRobin {
    static class Servers {
        private final ArrayBlockingQueue<String> all = new ArrayBlockingQueue<>(4, false, List.of("a"));
        String next() {
            String first = all.poll();
            if (first != null) {
                Pause.here();
                all.add(first);
            }
            return first;
        }
        boolean isDown() {
            return all.isEmpty();
        }
    }

    public static void main(String[] args) {
        Servers c = new Servers();
        Pause.race(() -> c.next(), () -> c.isDown());
    }
}
