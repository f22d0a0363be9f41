package whole;

import java.util.concurrent.Exchanger;
import schedule.Pause;

/** Whole: objects handed over by an exchanger. */
public class HandOverExchanger {
    static class Box {
        int n;
    }
    static class Swap {
        private final Exchanger<Box> exchanger = new Exchanger<>();
        int swap() {
            try {
                Box mine = new Box();
                mine.n = 1;
                Box other = exchanger.exchange(mine);
                other.n++;
                return other.n;
            } catch (InterruptedException e) {
                return 0;
            }
        }
    }

    public static void main(String[] args) {
        Swap c = new Swap();
        Pause.together(() -> c.swap(), () -> c.swap());
    }
}
