package whole;

import java.util.concurrent.CompletableFuture;
import schedule.Pause;

/** Whole: a result behind a CompletableFuture. */
public class FutureResult {
    static class Job {
        private final CompletableFuture<int[]> done = new CompletableFuture<>();
        void finish() {
            int[] result = new int[2];
            result[0] = 1;
            result[1] = 2;
            done.complete(result);
        }
        int sum() {
            int[] result = done.join();
            return result[0] + result[1];
        }
    }

    public static void main(String[] args) {
        Job c = new Job();
        Pause.race(() -> c.sum(), () -> c.finish());
    }
}
