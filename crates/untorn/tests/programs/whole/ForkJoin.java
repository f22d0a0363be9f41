package whole;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/** Whole: a task that divides itself. */
public class ForkJoin {
    static class Sum extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;
        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }
        @Override protected Integer compute() {
            if (to - from < 4) {
                int sum = 0;
                for (int i = from; i < to; i++) {
                    sum += i;
                }
                return sum;
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(from, middle);
            left.fork();
            return new Sum(middle, to).compute() + left.join();
        }
    }

    public static void main(String[] args) {
        if (new ForkJoinPool(2).invoke(new Sum(0, 32)) != 496) {
            throw new AssertionError();
        }
    }
}
