package repaired;

import schedule.Pause;

/** Repaired: Bank.transfer is one step now; before: money is in neither account for a moment. */
public class Transfer {
    static class Account {
        private int balance = 50;
        synchronized void add(int amount) {
            balance += amount;
        }
        synchronized int get() {
            return balance;
        }
    }
    static class Bank {
        final Account a = new Account();
        final Account b = new Account();
        void transfer(int amount) {
            synchronized (a) {
                synchronized (b) {
                    a.add(-amount);
                    Pause.here();
                    b.add(amount);
                }
            }
        }
        int total() {
            synchronized (a) {
                synchronized (b) {
                    return a.get() + b.get();
                }
            }
        }
    }

    public static void main(String[] args) {
        Bank c = new Bank();
        Pause.race(() -> c.transfer(5), () -> c.total());
    }
}
