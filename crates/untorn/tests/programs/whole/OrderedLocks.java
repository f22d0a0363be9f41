package whole;

import schedule.Pause;

/** Whole: two accounts locked in one order. */
public class OrderedLocks {
    static class Account {
        final int id;
        int balance = 50;
        Account(int id) {
            this.id = id;
        }
    }
    static class Bank {
        final Account a = new Account(1);
        final Account b = new Account(2);
        void transfer(Account from, Account to, int amount) {
            Account first = from.id < to.id ? from : to;
            Account second = first == from ? to : from;
            synchronized (first) {
                synchronized (second) {
                    from.balance -= amount;
                    Pause.here();
                    to.balance += amount;
                }
            }
        }
    }

    public static void main(String[] args) {
        Bank c = new Bank();
        Pause.race(() -> c.transfer(c.a, c.b, 5), () -> c.transfer(c.b, c.a, 7));
    }
}
