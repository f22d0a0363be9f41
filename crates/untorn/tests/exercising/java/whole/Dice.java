package whole;

import java.util.Random;

/** Every operation is one step; what callers see is left to chance. */
public class Dice {
    private static final Random RANDOM = new Random();
    private int value;

    public synchronized boolean seldom(int by) {
        value += by;
        int before = value;
        for (int i = 0; i < 10; i++) value = before;
        return RANDOM.nextInt(20) == 0;
    }

    public synchronized int roll() {
        value = RANDOM.nextInt(3);
        return value;
    }

    public synchronized void set(int to) {
        value = to;
    }

    public synchronized int get() {
        return value;
    }
}
