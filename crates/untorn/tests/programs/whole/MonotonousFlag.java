package whole;

import schedule.Pause;

/** Whole: a flag that is only ever set. */
public class MonotonousFlag {
    static class Alarm {
        private volatile boolean raised;
        void raise() {
            raised = true;
        }
        boolean isRaised() {
            return raised;
        }
    }

    public static void main(String[] args) {
        Alarm c = new Alarm();
        Pause.race(() -> c.raise(), () -> c.isRaised());
    }
}
