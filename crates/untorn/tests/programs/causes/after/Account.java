package after;

import java.util.concurrent.locks.ReentrantLock;

/** The same, mended. */
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
        lock.lock();
        try {
            balance = to;
            moves++;
        } finally {
            lock.unlock();
        }
    }
}
