package whole;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import schedule.Pause;

/** Whole: a queue is polled until it is empty. */
public class PollUntilEmpty {
    static class Work {
        private final ConcurrentLinkedQueue<Integer> queue = new ConcurrentLinkedQueue<>(List.of(1, 2, 3, 4));
        int drain() {
            int sum = 0;
            for (Integer job = queue.poll(); job != null; job = queue.poll()) {
                sum += job;
                Pause.here();
            }
            return sum;
        }
    }

    public static void main(String[] args) {
        Work c = new Work();
        Pause.race(() -> c.drain(), () -> c.drain());
    }
}
