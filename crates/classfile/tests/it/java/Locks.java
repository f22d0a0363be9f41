/** A hot method whose synchronized block starts with a loop: the JIT must take it. */
public class Locks {
    private final Object lock = new Object();
    private long total;

    long work(int rounds) {
        synchronized (lock) {
            while (rounds-- > 0) {
                total += rounds;
            }
        }
        return total;
    }

    synchronized long twice(int rounds) {
        return work(rounds) + work(rounds);
    }

    public static void main(String[] args) {
        Locks locks = new Locks();
        long sum = 0;
        for (int i = 0; i < 30000; i++) {
            sum += locks.twice(i % 7);
        }
        System.out.println(sum);
    }
}
