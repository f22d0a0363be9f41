package torn;

import java.util.concurrent.LinkedBlockingQueue;
import schedule.Pause;

/** Torn: Buffer.put: remainingCapacity and add of a LinkedBlockingQueue. */
public class QueueCapacity {
    static class Buffer {
        final LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>(1);
        boolean put(String item) {
            if (queue.remainingCapacity() == 0) {
                return false;
            }
            Pause.here();
            return queue.offer(item);
        }
    }

    public static void main(String[] args) {
        Buffer c = new Buffer();
        Pause.race(() -> c.put("i"), () -> c.put("i"));
    }
}
