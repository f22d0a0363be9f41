package repaired;

import schedule.Pause;

/** Repaired: Sync.pull is one step now; before: a value is fetched from one object and stored in another. */
public class CopyOver {
    static class Box {
        private int value;
        synchronized int get() {
            return value;
        }
        synchronized void set(int v) {
            value = v;
        }
    }
    static class Sync {
        final Box from = new Box();
        final Box to = new Box();
        synchronized void pull() {
            int value = from.get();
            Pause.here();
            to.set(value);
        }
        synchronized void both(int value) {
            from.set(value);
            to.set(value);
        }
    }

    public static void main(String[] args) {
        Sync c = new Sync();
        Pause.race(() -> c.pull(), () -> c.both(3));
    }
}
