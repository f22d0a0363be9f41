package repaired;

import java.util.BitSet;
import schedule.Pause;

/** Repaired: Slots.allocate is one step now; before: a free bit is looked for and set in two sections. */
public class SlotBits {
    static class Slots {
        private final BitSet used = new BitSet();
        private synchronized int free() {
            return used.nextClearBit(0);
        }
        private synchronized void take(int slot) {
            used.set(slot);
        }
        synchronized int allocate() {
            int slot = free();
            Pause.here();
            take(slot);
            return slot;
        }
    }

    public static void main(String[] args) {
        Slots c = new Slots();
        Pause.race(() -> c.allocate(), () -> c.allocate());
    }
}
