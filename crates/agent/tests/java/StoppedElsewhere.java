import java.io.PrintWriter;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that are stopped where they wait, or in code that nobody watches. Argument: the file that says what each died of. */
@SuppressWarnings({"deprecation", "removal"})
public class StoppedElsewhere {
    static int n;
    static final Object MONITOR = new Object();
    static PrintWriter out;

    interface Body {
        void run() throws Exception;
    }

    static final class Victim extends Thread {
        final Body body;
        Throwable died;
        boolean wasInterrupted;

        Victim(Body body) {
            this.body = body;
        }

        @Override
        public void run() {
            try {
                n++;
                body.run();
            } catch (Throwable death) {
                died = death;
                wasInterrupted = Thread.interrupted();
            }
        }

        void say(String what) throws InterruptedException {
            join(30_000);
            out.println(what + ": " + (isAlive() ? "alive" : died + " " + wasInterrupted));
        }
    }

    static void stop(String what, Body body) throws Exception {
        Victim victim = new Victim(body);
        victim.start();
        Thread.sleep(80);
        victim.stop();
        victim.say(what);
    }

    public static void main(String[] arguments) throws Exception {
        out = new PrintWriter(arguments[0]);
        stop("sleep", () -> Thread.sleep(100_000));
        stop("park", () -> {
            while (true) LockSupport.park();
        });
        stop("wait", () -> {
            synchronized (MONITOR) {
                while (true) MONITOR.wait();
            }
        });
        stop("take", () -> new LinkedBlockingQueue<String>().take());
        stop("await", () -> new CountDownLatch(1).await());
        stop("loop", () -> {
            while (true) n++;
        });
        stop("unwatched", () -> {
            byte[] much = new byte[1 << 20];
            while (true) Arrays.hashCode(much);
        });
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        stop("lock", lock::lock);
        Victim victim = new Victim(() -> {
            synchronized (MONITOR) {
                n++;
            }
            while (true) n++;
        });
        synchronized (MONITOR) {
            victim.start();
            Thread.sleep(80);
            // It would not return if it waited for the other thread.
            victim.stop();
        }
        victim.say("blocked");
        victim = new Victim(() -> Thread.currentThread().stop());
        victim.start();
        victim.say("itself");
        Thread never = new Thread(() -> out.println("a thread ran that was stopped before"));
        never.stop();
        never.start();
        never.join();
        out.close();
        // Who is still there keeps nobody.
        Runtime.getRuntime().halt(0);
    }
}
