package made;

import java.util.concurrent.atomic.AtomicLong;

/** Of its many queries only the last one, by its name, says what an update did. */
public class Wide {
    private final AtomicLong most = new AtomicLong();

    /** Torn: a larger value may be lost. */
    public void update(long value) {
        if (value > most.get()) most.set(value);
    }

    public int getA() {
        return 1;
    }

    public int getB() {
        return 2;
    }

    public int getC() {
        return 3;
    }

    public int getD() {
        return 4;
    }

    public int getE() {
        return 5;
    }

    public int getF() {
        return 6;
    }

    public int getG() {
        return 7;
    }

    public int getH() {
        return 8;
    }

    public int getI() {
        return 9;
    }

    public long getMost() {
        return most.get();
    }
}
