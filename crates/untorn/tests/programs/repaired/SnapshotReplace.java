package repaired;

import schedule.Pause;

/** Repaired: Prices.raise is one step now; before: an immutable state is replaced by one that was made from an older one. */
public class SnapshotReplace {
    static class Prices {
        private static final class State {
            final int tea;
            final int milk;
            State(int tea, int milk) {
                this.tea = tea;
                this.milk = milk;
            }
        }
        private volatile State state = new State(1, 1);
        synchronized void raise(int tea, int milk) {
            State now = state;
            Pause.here();
            state = new State(now.tea + tea, now.milk + milk);
        }
    }

    public static void main(String[] args) {
        Prices c = new Prices();
        Pause.race(() -> c.raise(1, 0), () -> c.raise(0, 1));
    }
}
