import java.util.HashMap;
import java.util.function.IntSupplier;

/** A library whose clients nobody has seen: they implement its interfaces, and keep what they pass and get. */
public class Library {
    private Library() { }
}

interface Store {
    int get();

    void put(int value);
}

class Stored {
    private final Store store;
    private int puts;

    Stored(Store store) { this.store = store; }

    synchronized void addBad(int amount) { store.put(store.get() + amount); }

    synchronized int getBad() { return store.get() + store.get(); }

    synchronized void countOk() { puts++; }
}

class Given {
    private final int[] kept;
    private final int[] own;

    Given(int[] given) {
        kept = given;
        own = given.clone();
    }

    synchronized void keptBad(int pause) {
        kept[0]++;
        Work.on(pause);
        kept[1]++;
    }

    synchronized void ownOk(int pause) {
        own[0]++;
        Work.on(pause);
        own[1]++;
    }

    synchronized void fillBad(int[] target, int pause) {
        target[0] = own[0];
        Work.on(pause);
        target[1] = own[1];
    }
}

class Keyed {
    private final HashMap<Object, Integer> map = new HashMap<>();

    synchronized void putBad(Object key) { map.put(key, 1); }

    synchronized void nameOk(String key) { map.put(key, 1); }
}

class Asking {
    private int sum;

    synchronized void addBad(IntSupplier supplier) { sum += supplier.getAsInt() + supplier.getAsInt(); }

    synchronized void addOk(int amount) { sum += amount; }
}

abstract class Shape {
    private int drawn;

    abstract void part(int pause);

    synchronized void drawBad(int pause) {
        part(pause);
        drawn++;
        part(pause);
    }

    synchronized int drawnOk() { return drawn; }
}

final class Link {
    private int value;
    private int twice;

    void setBad(int next, int pause) {
        value = next;
        Work.on(pause);
        twice = 2 * next;
    }
}

class Linked {
    private final Link link;

    Linked(Link link) { this.link = link; }

    synchronized void setBad(int next, int pause) { link.setBad(next, pause); }
}

final class Work {
    static int on(int steps) {
        int x = steps;
        for (int i = 0; i < steps; i++) x = x * 31 + i;
        return x == 42 ? 1 : 0;
    }
}
