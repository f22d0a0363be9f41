package torn;

import java.util.concurrent.atomic.AtomicIntegerArray;
import schedule.Pause;

/** Torn: Slots.bump: get and set of an element of an AtomicIntegerArray. */
public class AtomicArray {
    static class Slots {
        final AtomicIntegerArray slots = new AtomicIntegerArray(4);
        void bump(int i) {
            int was = slots.get(i);
            Pause.here();
            slots.set(i, was + 1);
        }
    }

    public static void main(String[] args) {
        Slots c = new Slots();
        Pause.race(() -> c.bump(2), () -> c.bump(2));
    }
}
