package repaired;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import schedule.Pause;

/** Repaired: Work.take is one step now; before: isEmpty and poll of a ConcurrentLinkedQueue. */
public class QueueIsEmptyPoll {
    static class Work {
        final Queue<String> queue = new ConcurrentLinkedQueue<>(List.of("only"));
        String take() {
            Pause.here();
            String job = queue.poll();
            return job == null ? "none" : job;
        }
    }

    public static void main(String[] args) {
        Work c = new Work();
        Pause.race(() -> c.take(), () -> c.take());
    }
}
