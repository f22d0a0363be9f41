package repaired;

import java.util.concurrent.atomic.AtomicIntegerArray;
import schedule.Pause;

/** Repaired: Slots.bump is one step now; before: get and set of an element of an AtomicIntegerArray. */
public class AtomicArray {
    static class Slots {
        final AtomicIntegerArray slots = new AtomicIntegerArray(4);
        void bump(int i) {
            Pause.here();
            slots.incrementAndGet(i);
        }
    }

    public static void main(String[] args) {
        Slots c = new Slots();
        Pause.race(() -> c.bump(2), () -> c.bump(2));
    }
}
