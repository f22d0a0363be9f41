import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Methods whose names end with Waits spin until another thread has written; the others do work of their own. */
class Spinning {
    volatile boolean ready;
    volatile int turn;
    boolean plain;
    int[] cells = new int[3];
    Spinning next;
    final AtomicBoolean flag = new AtomicBoolean();
    final AtomicInteger count = new AtomicInteger();
    final ConcurrentLinkedQueue<String> queue = new ConcurrentLinkedQueue<>();

    boolean isReady() { return ready; }

    int turnOf() { return turn; }

    void emptyBodyWaits() { while (!ready); }

    void yieldsWaits(int me) { while (turn != me) Thread.yield(); }

    void hintWaits() { while (!ready) Thread.onSpinWait(); }

    void plainFieldWaits() { while (!plain) { } }

    void getterWaits() { while (!isReady()) { } }

    void otherGetterWaits(int me) { while (turnOf() != me) { } }

    void atomicWaits() { while (!flag.get()); }

    void spinLockWaits() { while (!flag.compareAndSet(false, true)); }

    void backingOffWaits() { while (flag.get() || !flag.compareAndSet(false, true)) Thread.onSpinWait(); }

    void boundedWaits() { for (int i = 0; i < 1000 && !ready; i++) Thread.onSpinWait(); }

    void keptWaits(int me) {
        while (true) {
            int now = turn;
            if (now == me) break;
        }
    }

    void doWhileWaits() {
        do Thread.yield(); while (!ready);
    }

    void cellWaits(int me) { while (cells[me] == 0) Thread.yield(); }

    void farWaits(Spinning other) { while (other.next.turn < turn) Thread.yield(); }

    void futureWaits(Future<?> future) { while (!future.isDone()); }

    String pollWaits() {
        String found;
        while ((found = queue.poll()) == null) Thread.yield();
        return found;
    }

    int sum() {
        int sum = 0;
        for (int i = 0; i < cells.length; i++) sum += cells[i];
        return sum;
    }

    int find(int wanted) {
        int i = 0;
        while (cells[i] != wanted) i++;
        return i;
    }

    int length() {
        int n = 0;
        for (Spinning at = this; at != null; at = at.next) n++;
        return n;
    }

    Spinning last() {
        Spinning at = this;
        while (at.next != null) at = at.next;
        return at;
    }

    void increment() {
        int seen;
        do seen = count.get(); while (!count.compareAndSet(seen, seen + 1));
    }

    void incrementAtOnce() { while (!count.compareAndSet(count.get(), count.get() + 1)); }

    void drain() { while (queue.poll() != null); }

    void clear() { while (turn > 0) turn--; }

    void each(Iterator<String> all) { while (all.hasNext()) all.next(); }

    void twice() { for (int i = 0; i < 2; i++) Thread.yield(); }
}
