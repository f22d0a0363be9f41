package whole;

import schedule.Pause;

/** Whole: a synchronized method calls two others of the same object. */
public class SynchronizedChain {
    static class Account {
        private int balance = 10;
        synchronized int get() {
            return balance;
        }
        synchronized void set(int to) {
            balance = to;
        }
        synchronized void withdraw(int amount) {
            int was = get();
            Pause.here();
            if (was >= amount) {
                set(was - amount);
            }
        }
    }

    public static void main(String[] args) {
        Account c = new Account();
        Pause.race(() -> c.withdraw(4), () -> c.withdraw(5));
    }
}
