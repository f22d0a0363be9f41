package whole;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import schedule.Pause;

/** Whole: the one whose task came first computes, the others wait for it. */
public class Memoizer {
    static class Squares {
        private final ConcurrentHashMap<Integer, FutureTask<Integer>> known = new ConcurrentHashMap<>();
        int of(int n) {
            FutureTask<Integer> task = known.get(n);
            if (task == null) {
                FutureTask<Integer> mine = new FutureTask<>(() -> n * n);
                Pause.here();
                task = known.putIfAbsent(n, mine);
                if (task == null) {
                    task = mine;
                    mine.run();
                }
            }
            try {
                return task.get();
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) {
        Squares c = new Squares();
        Pause.race(() -> c.of(3), () -> c.of(3));
    }
}
