package untorn.exercise;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** Two threads for what is tried; others take their place if they do not come back. */
final class Workers {
    /** They did not come back. */
    static final class Hung extends Exception {
        private static final long serialVersionUID = 1;

        Hung() {
            super("a call did not return", null, false, false);
        }
    }

    /** How often a wait only lets others run. */
    private static final int YIELDS = 200;
    private static final long NAP = 30_000, BLOCKED = 3_000_000, LONGEST = 100_000_000;

    private volatile Thread firstThread, secondThread;
    private ExecutorService first = thread("first");
    private ExecutorService second = thread("second");
    /** How many threads were left behind. */
    int lost;
    /** Whether a plan holds threads up: it asks whether another one could still come, and one that waits with a limit might. */
    final boolean steered;

    Workers(boolean steered) {
        this.steered = steered;
    }

    private ExecutorService thread(String name) {
        return Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            if (name.equals("first")) firstThread = thread;
            else secondThread = thread;
            return thread;
        });
    }

    /** A short wait: at first others only get a chance, since a sleep is often longer than what is waited for. */
    void nap(int tries) {
        if (tries < YIELDS) Thread.yield();
        else LockSupport.parkNanos(NAP);
    }

    /** Where the first thread is, without what the driver does to get there. */
    String placeOfFirst() {
        for (StackTraceElement frame : firstThread.getStackTrace()) {
            String name = frame.getClassName();
            if (!name.startsWith("untorn.")) {
                return name.substring(name.lastIndexOf('.') + 1) + "." + frame.getMethodName() + ":" + frame.getLineNumber();
            }
        }
        return "?";
    }

    /** Until the second thread has done its task, or needs what the first has. */
    void awaitSecondOrBlocked(Future<Object> task) {
        long begun = System.nanoTime(), blocked = 0;
        for (int tries = 0; !task.isDone(); tries++) {
            nap(tries);
            long now = System.nanoTime();
            boolean runs = secondThread != null && secondThread.getState() == Thread.State.RUNNABLE;
            if (runs) blocked = 0;
            else if (blocked == 0) blocked = now;
            if (blocked != 0 && now - blocked > BLOCKED || now - begun > LONGEST) return;
        }
    }

    Future<Object> first(Callable<Object> task) {
        return first.submit(task);
    }

    Future<Object> second(Callable<Object> task) {
        return second.submit(task);
    }

    /** What a task gave; it must not throw. */
    Object await(Future<Object> task, int milliseconds) throws Hung {
        try {
            return steered ? task.get() : task.get(milliseconds, TimeUnit.MILLISECONDS);
        } catch (ExecutionException failed) {
            return failed.getCause();
        } catch (TimeoutException | InterruptedException late) {
            lost++;
            first.shutdownNow();
            second.shutdownNow();
            first = thread("first");
            second = thread("second");
            throw new Hung();
        }
    }
}
