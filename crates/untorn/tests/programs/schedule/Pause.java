package schedule;

/**
 * Forces the schedule of a test program: the second thread runs while the first one pauses.
 *
 * <p>The threads watch each other's state and share nothing else, so that no synchronization but the program's own is seen.
 */
public final class Pause {
    /** How long one thread waits for the other, at most; one that a lock holds up does not come. */
    private static final int PATIENCE_MILLIS = 400;

    private Pause() {}

    /** Runs both; the second one begins when the first one pauses, waits or has ended. */
    public static void race(Runnable first, Runnable second) {
        finish(new Turn("first", true, first), new Turn("second", true, second));
    }

    /** Runs both at the same time. */
    public static void together(Runnable first, Runnable second) {
        finish(new Turn("first", false, first), new Turn("second", false, second));
    }

    /** The first thread waits here, once, until the second one has run or is held up. */
    public static void here() {
        if (Thread.currentThread() instanceof Turn) {
            ((Turn) Thread.currentThread()).pause();
        }
    }

    private static void finish(Turn first, Turn second) {
        first.other = second;
        second.other = first;
        first.isFirst = true;
        first.start();
        second.start();
        try {
            first.join();
            second.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A thread that knows the other one. */
    private static final class Turn extends Thread {
        private final boolean takesTurns;
        private boolean isFirst;
        private boolean hasPaused;
        private Turn other;

        Turn(String name, boolean takesTurns, Runnable task) {
            super(task, name);
            this.takesTurns = takesTurns;
        }

        @Override
        public void run() {
            if (takesTurns && !isFirst) {
                // A sleeping first thread has paused; one that waits or has ended will not.
                for (int i = 0; i < PATIENCE_MILLIS && isAtWork(); i++) {
                    nap();
                }
            }
            super.run();
        }

        void pause() {
            if (takesTurns && isFirst && !hasPaused) {
                hasPaused = true;
                nap();
                for (int i = 0; i < PATIENCE_MILLIS && other.getState() != State.TERMINATED; i++) {
                    if (other.getState() == State.BLOCKED || other.getState() == State.WAITING) {
                        return;
                    }
                    nap();
                }
            }
        }

        private boolean isAtWork() {
            State state = other.getState();
            return state == State.NEW || state == State.RUNNABLE;
        }

        private static void nap() {
            try {
                sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
