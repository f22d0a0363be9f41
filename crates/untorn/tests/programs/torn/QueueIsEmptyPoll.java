package torn;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import schedule.Pause;

/** Torn: Work.take: isEmpty and poll of a ConcurrentLinkedQueue. */
public class QueueIsEmptyPoll {
    static class Work {
        final Queue<String> queue = new ConcurrentLinkedQueue<>(List.of("only"));
        String take() {
            if (queue.isEmpty()) {
                return "none";
            }
            Pause.here();
            return queue.poll();
        }
    }

    public static void main(String[] args) {
        Work c = new Work();
        Pause.race(() -> c.take(), () -> c.take());
    }
}
