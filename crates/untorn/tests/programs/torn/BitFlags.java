package torn;

import schedule.Pause;

/** Torn: Flags.set: one of two bits is lost. */
public class BitFlags {
    static class Flags {
        int bits;
        void set(int bit) {
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
