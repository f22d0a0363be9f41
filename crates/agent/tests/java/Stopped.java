import java.util.HashMap;
import java.util.Map;

/** Threads that are stopped wherever they are. What they share is guarded by one monitor. Argument: what they do. */
@SuppressWarnings({"deprecation", "removal"})
public class Stopped {
    int value;
    static int total;
    final Object inner = new Object();
    final Map<Integer, Integer> map = new HashMap<>();

    synchronized void method() {
        for (int i = 0; i < 3; i++) value++;
        total++;
    }

    void blocks() {
        synchronized (this) {
            synchronized (inner) {
                value++;
            }
            total++;
        }
    }

    void allocates() {
        Stopped fresh = new Stopped();
        synchronized (fresh) {
            fresh.value++;
        }
        synchronized (this) {
            value++;
            map.put(value & 7, 1);
        }
    }

    void waits() {
        synchronized (this) {
            try {
                wait(1);
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int kind = Integer.parseInt(arguments[0]);
        for (int round = 0; round < 15; round++) {
            Stopped shared = new Stopped();
            Thread[] threads = new Thread[3];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> {
                    while (true) {
                        switch (kind) {
                            case 0: shared.method(); break;
                            case 1: shared.blocks(); break;
                            case 2: shared.allocates(); break;
                            default: shared.waits(); break;
                        }
                    }
                });
                threads[i].setUncaughtExceptionHandler((thread, error) -> {
                    if (error instanceof ThreadDeath) return;
                    error.printStackTrace();
                    Runtime.getRuntime().halt(4);
                });
                threads[i].start();
            }
            Thread.sleep(15);
            for (Thread thread : threads) thread.stop();
            for (Thread thread : threads) {
                thread.join(60_000);
                if (thread.isAlive()) {
                    for (StackTraceElement frame : thread.getStackTrace()) System.err.println(frame);
                    Runtime.getRuntime().halt(3);
                }
            }
        }
        System.out.println("all stopped");
    }
}
