package whole;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Whole: tasks of an executor and their futures. */
public class ExecutorFutures {
    static class Square {
        int of(int n) {
            return n * n;
        }
    }

    public static void main(String[] args) {
        Square square = new Square();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            Future<Integer> a = pool.submit(() -> square.of(3));
            Future<Integer> b = pool.submit(() -> square.of(4));
            if (a.get() + b.get() != 25) {
                throw new AssertionError();
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            pool.shutdown();
        }
    }
}
