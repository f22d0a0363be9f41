package whole;

import java.util.concurrent.Executors;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads of its own do the work; when, is not said. */
public class Threaded {
    private static final ExecutorService WORK = Executors.newFixedThreadPool(2, task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });
    private final AtomicInteger done = new AtomicInteger();
    private int asked;

    public void later(int by) {
        synchronized (this) {
            asked++;
        }
        WORK.execute(() -> done.addAndGet(by));
    }

    public void muchLater(int by) {
        synchronized (this) {
            asked++;
        }
        WORK.execute(() -> {
            try {
                Thread.sleep(4);
            } catch (InterruptedException ended) {
                return;
            }
            done.addAndGet(by);
        });
    }

    public int done() {
        return done.get();
    }

    public synchronized int asked() {
        return asked;
    }

    public int now(int by) throws Exception {
        Future<Integer> result = WORK.submit(() -> done.addAndGet(by));
        return result.get();
    }

    public String who() {
        return Thread.currentThread().getName() + " " + Thread.currentThread().getId();
    }
}
