package torn;

import java.util.List;
import java.util.concurrent.PriorityBlockingQueue;
import schedule.Pause;

/** Torn: Schedule.due: peek and poll of a PriorityBlockingQueue. */
public class PriorityPeek {
    static class Schedule {
        final PriorityBlockingQueue<Integer> times = new PriorityBlockingQueue<>(List.of(1, 5));
        Integer due(int now) {
            Integer first = times.peek();
            if (first == null || first > now) {
                return null;
            }
            Pause.here();
            return times.poll();
        }
    }

    public static void main(String[] args) {
        Schedule c = new Schedule();
        Pause.race(() -> c.due(3), () -> c.due(3));
    }
}
