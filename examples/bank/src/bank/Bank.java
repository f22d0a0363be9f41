package bank;

/** Moves money between two accounts. */
final class Bank {
    final Account checking = new Account(1_000_000);
    final Account savings = new Account(1_000_000);

    /** Torn: between the two locks the money is nowhere. */
    void transfer(long amount) {
        synchronized (checking) {
            checking.withdrawSafely(amount);
        }
        Work.some();
        synchronized (savings) {
            savings.deposit(amount);
        }
    }

    /** Whole: both locks are held for all of it. */
    long total() {
        synchronized (checking) {
            synchronized (savings) {
                return checking.balance() + savings.balance();
            }
        }
    }
}
