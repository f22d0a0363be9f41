package repaired;

import schedule.Pause;

/** Repaired: Flags.set is one step now; before: one of two bits is lost. */
public class BitFlags {
    static class Flags {
        int bits;
        synchronized void set(int bit) {
            int was = bits;
            Pause.here();
            bits = was | 1 << bit;
        }
    }

    public static void main(String[] args) {
        Flags c = new Flags();
        Pause.race(() -> c.set(1), () -> c.set(2));
    }
}
