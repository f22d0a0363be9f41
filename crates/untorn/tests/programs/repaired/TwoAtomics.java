package repaired;

import schedule.Pause;

/** Repaired: Mean.record is one step now; before: two atomics that belong together. */
public class TwoAtomics {
    static class Mean {
        int count;
        long sum;
        synchronized void record(int value) {
            count++;
            Pause.here();
            sum += value;
        }
        synchronized double mean() {
            return sum / (double) count;
        }
    }

    public static void main(String[] args) {
        Mean c = new Mean();
        Pause.race(() -> c.record(4), () -> c.mean());
    }
}
