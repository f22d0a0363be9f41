/** Hot methods that hold monitors while they do everything else: the JIT must take them. */
public class Hot {
    private final Object lock = new Object(), other = new Object();
    private long total;
    private int[] cells = new int[8];
    private Hot next;

    long block(int rounds) {
        synchronized (lock) {
            while (rounds-- > 0) total += cells[rounds & 7]++;
        }
        return total;
    }

    long nested(int n) {
        synchronized (lock) {
            total++;
            synchronized (other) {
                if (n % 3 == 0) return total;
                total += n;
            }
            total--;
        }
        return total;
    }

    synchronized long whole(int n) {
        return total += n;
    }

    long caught(int n) {
        synchronized (lock) {
            try {
                return n % 64 == 0 ? next.total : total;
            } catch (NullPointerException e) {
                return --total;
            } finally {
                cells[1]++;
            }
        }
    }

    void waits(int n) throws InterruptedException {
        synchronized (lock) {
            if (n < 0) lock.wait();
            lock.notify();
            total++;
        }
    }

    public static void main(String[] args) throws Exception {
        Hot hot = new Hot();
        long sum = 0;
        for (int i = 0; i < 30000; i++) {
            sum += hot.block(i % 7) + hot.nested(i) + hot.whole(i) + hot.caught(i);
            hot.waits(i);
        }
        System.out.println(sum);
    }
}
