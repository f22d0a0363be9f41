import java.util.concurrent.CountDownLatch;

/** Two threads that take two locks in opposite orders, and always meet. */
public final class Deadlock {
    private final CountDownLatch holds = new CountDownLatch(2);
    private int moved;

    void move(Object from, Object to) {
        synchronized (from) {
            int before = moved;
            holds.countDown();
            try {
                holds.await();
            } catch (InterruptedException e) {
                return;
            }
            synchronized (to) {
                moved = before + 1;
            }
        }
    }

    public static void main(String[] arguments) {
        Deadlock deadlock = new Deadlock();
        Object one = new Object();
        Object other = new Object();
        new Thread(() -> deadlock.move(one, other)).start();
        new Thread(() -> deadlock.move(other, one)).start();
    }
}
