package before;

import java.util.concurrent.locks.ReentrantLock;

/** fix writes both fields without the lock that everybody else holds. */
class Account {
    private final ReentrantLock lock = new ReentrantLock();
    private int balance;
    private int moves;

    void deposit(int amount) {
        lock.lock();
        try {
            balance += amount;
            moves++;
        } finally {
            lock.unlock();
        }
    }

    void withdraw(int amount) {
        lock.lock();
        try {
            balance -= amount;
            moves++;
        } finally {
            lock.unlock();
        }
    }

    void fix(int to) {
        balance = to;
        moves++;
    }
}
