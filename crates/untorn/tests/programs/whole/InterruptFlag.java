package whole;

import schedule.Pause;

/** Whole: a volatile flag that is only ever set. */
public class InterruptFlag {
    static class Worker {
        private volatile boolean stopped;
        int rounds() {
            int n = 0;
            while (!stopped && n < 3) {
                n++;
                Pause.here();
            }
            return n;
        }
        void stop() {
            stopped = true;
        }
    }

    public static void main(String[] args) {
        Worker c = new Worker();
        Pause.race(() -> c.rounds(), () -> c.stop());
    }
}
