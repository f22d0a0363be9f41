package whole;

import schedule.Pause;

/** Whole: a helper that is called with the lock held. */
public class LockHandedDown {
    static class Account {
        private int balance = 100;
        synchronized boolean withdraw(int n) {
            if (!covers(n)) {
                return false;
            }
            Pause.here();
            take(n);
            return true;
        }
        private boolean covers(int n) {
            return balance >= n;
        }
        private void take(int n) {
            balance -= n;
        }
    }

    public static void main(String[] args) {
        Account c = new Account();
        Pause.race(() -> c.withdraw(80), () -> c.withdraw(80));
    }
}
