package whole;

import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Whole: a loop around compareAndSet that leaves by a return. */
public class CompareAndSetForever {
    static class Max {
        private final AtomicLong max = new AtomicLong();
        void offer(long value) {
            while (true) {
                long now = max.get();
                if (value <= now) {
                    return;
                }
                Pause.here();
                if (max.compareAndSet(now, value)) {
                    return;
                }
            }
        }
    }

    public static void main(String[] args) {
        Max c = new Max();
        Pause.race(() -> c.offer(3), () -> c.offer(2));
    }
}
