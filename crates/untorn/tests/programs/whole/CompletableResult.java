package whole;

import java.util.concurrent.CompletableFuture;
import schedule.Pause;

/** Whole: the result of one thread is waited for by the other. */
public class CompletableResult {
    static class Job {
        private final CompletableFuture<Integer> result = new CompletableFuture<>();
        private int steps;
        void work() {
            steps = steps + 1;
            steps = steps + 1;
            result.complete(steps);
        }
        int await() {
            return result.join() + steps;
        }
    }

    public static void main(String[] args) {
        Job c = new Job();
        Pause.race(() -> c.work(), () -> c.await());
    }
}
