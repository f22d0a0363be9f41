package whole;

import schedule.Pause;

/** Whole: a volatile flag that ends a loop. */
public class StopFlag {
    static class Worker {
        private volatile boolean stopped;
        void work() {
            while (!stopped) {
                Thread.onSpinWait();
            }
        }
        void stop() {
            stopped = true;
        }
    }

    public static void main(String[] args) {
        Worker c = new Worker();
        Pause.race(() -> c.work(), () -> c.stop());
    }
}
