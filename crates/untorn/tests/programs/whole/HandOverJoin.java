package whole;

/** Whole: written by a thread, read after its end. */
public class HandOverJoin {
    static class Sum {
        int total;
        void add(int n) {
            total += n;
        }
    }

    public static void main(String[] args) {
        Sum c = new Sum();
        Thread one = new Thread(() -> c.add(1));
        one.start();
        try {
            one.join();
        } catch (InterruptedException e) {
            return;
        }
        Thread two = new Thread(() -> c.add(2));
        two.start();
        try {
            two.join();
        } catch (InterruptedException e) {
            return;
        }
        c.add(3);
    }
}
