package bank;

/** An account whose every access is locked, and which can still be torn. */
final class Account {
    private long balance;

    Account(long balance) {
        this.balance = balance;
    }

    synchronized long balance() {
        return balance;
    }

    synchronized void setBalance(long amount) {
        balance = amount;
    }

    /** Whole: reads and writes under one lock. */
    synchronized void deposit(long amount) {
        balance += amount;
    }

    /** Torn: the balance can change between the check and the two accesses that act on it. */
    boolean withdraw(long amount) {
        if (balance() < amount) {
            return false;
        }
        Work.some();
        setBalance(balance() - amount);
        return true;
    }

    /** Whole: checks and acts under one lock. */
    synchronized boolean withdrawSafely(long amount) {
        if (balance < amount) {
            return false;
        }
        balance -= amount;
        return true;
    }
}
