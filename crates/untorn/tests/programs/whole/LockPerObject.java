package whole;

import schedule.Pause;

/** Whole: a lock for every account, one account per operation. */
public class LockPerObject {
    static class Account {
        private int balance;
        synchronized void deposit(int n) {
            balance += n;
        }
    }
    static class Bank {
        private final Account[] accounts = { new Account(), new Account() };
        void deposit(int at, int n) {
            accounts[at].deposit(n);
        }
    }

    public static void main(String[] args) {
        Bank c = new Bank();
        Pause.race(() -> c.deposit(0, 5), () -> c.deposit(0, 7));
    }
}
