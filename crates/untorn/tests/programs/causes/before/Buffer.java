package before;

/** peek reads both fields without the lock that everybody else holds. */
class Buffer {
    private int count;
    private int sum;

    synchronized void add(int value) {
        count++;
        sum += value;
    }

    synchronized void clear() {
        count = 0;
        sum = 0;
    }

    int peek() {
        return count + sum;
    }
}
