package torn;

import schedule.Pause;

/** Torn: Ledger.book: each field has its own lock, and a reader sees one of two changes. */
public class TwoLocksTwoFields {
    static class Ledger {
        private int entries;
        private int sum;
        private final Object entriesLock = new Object();
        private final Object sumLock = new Object();
        void book(int amount) {
            synchronized (entriesLock) {
                entries++;
            }
            Pause.here();
            synchronized (sumLock) {
                sum += amount;
            }
        }
        int mean() {
            synchronized (entriesLock) {
                synchronized (sumLock) {
                    return entries == 0 ? 0 : sum / entries;
                }
            }
        }
    }

    public static void main(String[] args) {
        Ledger c = new Ledger();
        Pause.race(() -> c.book(4), () -> c.mean());
    }
}
