package legacy;

/** What is left of something, for several tills at once. */
public class Stock {
    private int left;

    public Stock(int left) {
        this.left = left;
    }

    public synchronized int left() {
        return left;
    }

    private synchronized void setLeft(int left) {
        this.left = left;
    }

    /** Torn: another till can sell while the customer of this one pays. */
    public boolean sell() {
        int now = left();
        if (now == 0) {
            return false;
        }
        pay();
        setLeft(now - 1);
        return true;
    }

    private static void pay() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whole: looks and takes under one lock. */
    public synchronized boolean sellSafely() {
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }
}
