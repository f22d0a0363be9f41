package repaired;

import schedule.Pause;

/** Repaired: Account.withdraw is one step now; before: the balance is checked and then changed. */
public class BankWithdraw {
    static class Account {
        int balance = 100;
        synchronized boolean withdraw(int amount) {
            if (balance < amount) {
                return false;
            }
            Pause.here();
            balance -= amount;
            return true;
        }
    }

    public static void main(String[] args) {
        Account c = new Account();
        Pause.race(() -> c.withdraw(80), () -> c.withdraw(80));
    }
}
