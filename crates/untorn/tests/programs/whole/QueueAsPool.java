package whole;

import java.util.concurrent.ConcurrentLinkedQueue;
import schedule.Pause;

/** Whole: a buffer is taken out of a pool, used, and given back. */
public class QueueAsPool {
    static class Buffers {
        private final ConcurrentLinkedQueue<StringBuilder> pool = new ConcurrentLinkedQueue<>();
        Buffers() {
            pool.add(new StringBuilder());
            pool.add(new StringBuilder());
        }
        String format(int n) {
            StringBuilder buffer = pool.poll();
            buffer.setLength(0);
            Pause.here();
            String text = buffer.append(n).toString();
            pool.offer(buffer);
            return text;
        }
    }

    public static void main(String[] args) {
        Buffers c = new Buffers();
        Pause.race(() -> c.format(1), () -> c.format(2));
    }
}
