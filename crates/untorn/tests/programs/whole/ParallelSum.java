package whole;

import java.util.stream.IntStream;
import schedule.Pause;

/** Whole: a parallel stream. */
public class ParallelSum {
    static class Squares {
        int sum(int n) {
            return IntStream.range(0, n).parallel().map(i -> i * i).sum();
        }
    }

    public static void main(String[] args) {
        Squares c = new Squares();
        Pause.race(() -> c.sum(100), () -> c.sum(100));
    }
}
