package untorn.exercise;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Two threads for what is tried; others take their place if they do not come back.
 *
 * <p>A busy machine must not change what is found, so nothing here asks how long a thread has been at work: one that runs is
 * measured by its own processor time, and one that waits for a lock is asked who holds it.
 */
final class Workers {
    /** They did not come back. */
    static final class Hung extends Exception {
        private static final long serialVersionUID = 1;

        Hung() {
            super("a call did not return", null, false, false);
        }
    }

    /** A call that a thread makes. */
    static final class Task extends FutureTask<Object> {
        /** Who makes it, once it has begun. */
        private volatile Thread thread;
        private volatile long processorBefore;

        private Task(Callable<Object> call) {
            super(call);
        }

        @Override
        public void run() {
            processorBefore = THREADS.getCurrentThreadCpuTime();
            thread = Thread.currentThread();
            super.run();
        }

        private long processorTime() {
            return thread == null ? 0 : THREADS.getThreadCpuTime(thread.getId()) - processorBefore;
        }
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** How often a wait only lets others run. */
    private static final int YIELDS = 200;
    /** From one look at a task to the next, in milliseconds. */
    private static final int LOOK = 20;
    private static final long NAP = 30_000, MILLISECOND = 1_000_000;
    /** So long a call may wait for what is not a lock of the other thread, before that one goes on. */
    private static final long UNSURE = 20 * MILLISECOND;
    /** So long it may compute meanwhile: it may be a lock that spins. */
    private static final long SPINNING = 200 * MILLISECOND;
    /** After so much waiting, computing, or time in all, a call does not come back. */
    private static final long IDLE = 2_000 * MILLISECOND, BUSY = 3_000 * MILLISECOND, LONGEST = 30_000 * MILLISECOND;

    private volatile Thread firstThread;
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
            return thread;
        });
    }

    Task first(Callable<Object> call) {
        Task task = new Task(call);
        first.execute(task);
        return task;
    }

    Task second(Callable<Object> call) {
        Task task = new Task(call);
        second.execute(task);
        return task;
    }

    /** A short wait: at first others only get a chance, since a sleep is often longer than what is waited for. */
    private static void nap(int tries) {
        if (tries < YIELDS) Thread.yield();
        else LockSupport.parkNanos(NAP);
    }

    /**
     * Where the first thread is, without what the driver does to get there: in short, and behind
     * bars the class, method and line of the nearest code that is not the platform's.
     */
    String placeOfFirst() {
        String place = null;
        for (StackTraceElement frame : firstThread.getStackTrace()) {
            String name = frame.getClassName();
            if (name.startsWith("untorn.")) continue;
            if (place == null) place = name.substring(name.lastIndexOf('.') + 1) + "." + frame.getMethodName() + ":" + frame.getLineNumber();
            boolean isPlatform = name.startsWith("java.") || name.startsWith("javax.") || name.startsWith("jdk.") || name.startsWith("sun.");
            if (!isPlatform) return place + "|" + name + "|" + frame.getMethodName() + "|" + frame.getLineNumber();
        }
        return place == null ? "?" : place;
    }

    /** Until a thread that counts its steps stops, or has done its task; whether it stopped. */
    boolean awaitStop(Task task) {
        long begun = System.nanoTime();
        for (int tries = 0; !task.isDone() && !Steps.isStopped(); tries++) {
            nap(tries);
            if (isGivenUp(task, begun)) return false;
        }
        return Steps.isStopped();
    }

    /** Until the second thread has done its task, or cannot go on before the first one does; whether it has done it. */
    boolean awaitSecond(Task task) {
        long begun = System.nanoTime(), waits = 0;
        for (int tries = 0; !task.isDone(); tries++) {
            nap(tries);
            Thread thread = task.thread;
            if (thread == null) continue;
            long now = System.nanoTime();
            if (thread.getState() == Thread.State.RUNNABLE) {
                waits = 0;
                if (task.processorTime() > SPINNING || now - begun > LONGEST) return false;
            } else {
                if (task.isDone() || isHeldByFirst(thread)) break;
                if (waits == 0) waits = now;
                else if (now - waits > UNSURE) break;
            }
        }
        return task.isDone();
    }

    /** Whether a thread waits for a lock of the first one. */
    private boolean isHeldByFirst(Thread thread) {
        ThreadInfo info = THREADS.getThreadInfo(thread.getId());
        return info != null && info.getLockOwnerId() == firstThread.getId();
    }

    /** What a task gave, or threw. */
    Object await(Task task) throws Hung {
        long begun = System.nanoTime(), waits = 0;
        while (true) {
            try {
                return steered ? task.get() : task.get(LOOK, TimeUnit.MILLISECONDS);
            } catch (ExecutionException failed) {
                return failed.getCause();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            } catch (TimeoutException late) {
                Thread thread = task.thread;
                boolean isIdle = thread != null && thread.getState() != Thread.State.RUNNABLE;
                if (!isIdle) waits = 0;
                else if (waits == 0) waits = System.nanoTime();
                if (isIdle && System.nanoTime() - waits > IDLE || isGivenUp(task, begun)) {
                    replace();
                    throw new Hung();
                }
            }
        }
    }

    private static boolean isGivenUp(Task task, long begun) {
        return task.processorTime() > BUSY || System.nanoTime() - begun > LONGEST;
    }

    private void replace() {
        lost++;
        first.shutdownNow();
        second.shutdownNow();
        first = thread("first");
        second = thread("second");
    }
}
