package whole;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import schedule.Pause;

/** Whole: a bounded buffer with conditions. */
public class ConditionBuffer {
    static class Buffer {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition filled = lock.newCondition();
        private Object item;
        void put(Object one) {
            lock.lock();
            try {
                item = one;
                filled.signal();
            } finally {
                lock.unlock();
            }
        }
        Object take() {
            lock.lock();
            try {
                while (item == null) {
                    filled.awaitUninterruptibly();
                }
                Object taken = item;
                item = null;
                return taken;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Buffer c = new Buffer();
        Pause.race(() -> c.take(), () -> c.put("i"));
    }
}
