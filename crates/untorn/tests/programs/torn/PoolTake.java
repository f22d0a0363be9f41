package torn;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import schedule.Pause;

/** Torn: Pool.take: the pool is emptied between the question and the taking. */
public class PoolTake {
    static class Pool {
        private final Deque<Integer> free = new ArrayDeque<>(List.of(1));
        synchronized boolean isEmpty() {
            return free.isEmpty();
        }
        synchronized Integer pop() {
            return free.poll();
        }
        Integer take() {
            if (isEmpty()) {
                return null;
            }
            Pause.here();
            return pop();
        }
    }

    public static void main(String[] args) {
        Pool c = new Pool();
        Pause.race(() -> c.take(), () -> c.take());
    }
}
