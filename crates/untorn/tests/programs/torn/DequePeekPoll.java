package torn;

import java.util.ArrayDeque;
import java.util.List;
import schedule.Pause;

/** Torn: Work.take: peek under one hold of the lock, poll under another. */
public class DequePeekPoll {
    static class Work {
        private final ArrayDeque<String> jobs = new ArrayDeque<>(List.of("a", "b"));
        synchronized String peek() {
            return jobs.peek();
        }
        synchronized String poll() {
            return jobs.poll();
        }
        String take() {
            String first = peek();
            if (first == null) {
                return null;
            }
            Pause.here();
            poll();
            return first;
        }
    }

    public static void main(String[] args) {
        Work c = new Work();
        Pause.race(() -> c.take(), () -> c.take());
    }
}
