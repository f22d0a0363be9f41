package torn;

import schedule.Pause;

/** Torn: Account.withdraw: the balance is checked and then changed. */
public class BankWithdraw {
    static class Account {
        int balance = 100;
        boolean withdraw(int amount) {
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
