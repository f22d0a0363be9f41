import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** A right and a wrong use of each rule that makes types more precise; names as in Programs. */
public class Rules {
    public static void main(String[] arguments) throws Exception {
        Subject[] subjects = {
            new Counted(), new Recounted(), new Filled(), new Lent(), new Either(true), new Either(false), new Letters(),
            new Renewed(), new Picked(), new Measured(), new Kept(), new Summed(), new Loose(), new Nested(),
        };
        Programs.run(subjects, Long.parseLong(arguments[0]), Integer.parseInt(arguments[1]));
    }
}

/** A volatile field that is written under the lock, and read by anybody. */
class Counted implements Subject {
    private volatile int count;

    synchronized void addOk(int amount, int pause) {
        int seen = count;
        Time.pass(pause);
        count = seen + amount;
    }

    int peekOk() { return count; }

    synchronized void twiceBad(int pause) {
        count = count + 1;
        Time.pass(pause);
        count = count - 1;
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1, 2 -> addOk(which, pause);
            case 3 -> twiceBad(pause);
            default -> peekOk();
        }
    }
}

/** The same, but one write comes without the lock. */
class Recounted implements Subject {
    private volatile int count;

    synchronized void addBad(int amount, int pause) {
        int seen = count;
        Time.pass(pause);
        count = seen + amount;
    }

    void reset() { count = 0; }

    public void act(int which, int pause) {
        if (which < 4) addBad(which, pause); else reset();
    }
}

/** Anybody may call what fills arrays; for what it is given under the lock, the lock counts. */
class Filled implements Subject {
    private static final int[] COMMON = new int[2];
    private final int[] own = new int[2];

    static void fillBad(int[] target, int value, int pause) {
        target[0] = value;
        Time.pass(pause);
        target[1] = value;
    }

    synchronized void ownOk(int value, int pause) { fillBad(own, value, pause); }

    synchronized int sumOk() { return own[0] + own[1]; }

    synchronized void commonBad(int value, int pause) { fillBad(COMMON, value, pause); }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> ownOk(which, pause);
            case 2 -> sumOk();
            case 3, 4 -> commonBad(which, pause);
            default -> fillBad(COMMON, which, pause);
        }
    }
}

/** One method passes the array without the lock. */
class Lent implements Subject {
    private final int[] own = new int[2];

    synchronized void addBad(int pause) {
        own[0]++;
        Time.pass(pause);
        own[1]++;
    }

    void lendBad(int value, int pause) { Filled.fillBad(own, value, pause); }

    public void act(int which, int pause) {
        if (which < 4) lendBad(which, pause); else addBad(pause);
    }
}

/** A call runs one of two implementations, not both. */
class Either implements Subject {
    private final ConcurrentMap<String, Integer> map;

    Either(boolean sorted) { map = sorted ? new ConcurrentSkipListMap<>() : new ConcurrentHashMap<>(); }

    Integer getOk(String key) { return map.get(key); }

    void putOk(String key, Integer value) { map.put(key, value); }

    void addBad(String key, int pause) {
        Integer seen = map.get(key);
        Time.pass(pause);
        map.put(key, seen == null ? 1 : seen + 1);
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1, 2 -> addBad("a", pause);
            case 3 -> putOk("a", 0);
            default -> getOk("a");
        }
    }
}

/** A library method asks a sequence for its characters. */
class Letters implements CharSequence, Subject {
    private final char[] text = {'a', 'b'};

    public synchronized int length() { return text.length; }

    public synchronized char charAt(int index) { return text[index]; }

    public CharSequence subSequence(int from, int to) { return this; }

    synchronized int offsetOk(int by) { return Character.offsetByCodePoints(this, 0, by); }

    int offsetBad(int by) { return Character.offsetByCodePoints(this, 0, by); }

    synchronized void setOk(char next, int pause) {
        text[0] = next;
        Time.pass(pause);
        text[1] = next;
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> setOk((char) ('a' + which), pause);
            case 2, 3 -> offsetOk(2);
            default -> offsetBad(2);
        }
    }
}

/** An array that is new on either branch. */
class Renewed implements Subject {
    private int[] data = new int[2];

    private int[] made(boolean longer) { return longer ? new int[3] : new int[2]; }

    synchronized void renewOk(boolean longer, int pause) {
        data = made(longer);
        data[0] = 1;
        Time.pass(pause);
        data[1] = 1;
    }

    synchronized int sumOk(int pause) {
        int seen = data[0];
        Time.pass(pause);
        return seen - data[1];
    }

    public void act(int which, int pause) {
        if (which < 4) renewOk(which % 2 == 0, pause); else sumOk(pause);
    }
}

/** On one branch the array is everybody's. */
class Picked implements Subject {
    private static final int[] COMMON = new int[2];
    private int[] data = new int[2];

    private int[] picked(boolean own) { return own ? new int[2] : COMMON; }

    synchronized void renewBad(boolean own, int pause) {
        data = picked(own);
        data[0] = 1;
        Time.pass(pause);
        data[1] = 1;
    }

    void commonBad(int pause) {
        COMMON[0]++;
        Time.pass(pause);
        COMMON[1]++;
    }

    public void act(int which, int pause) {
        if (which < 4) renewBad(which == 0, pause); else commonBad(pause);
    }
}

/** A library class with a lock of its own. */
class Measured implements Subject {
    private final Vector<Integer> vector = new Vector<>();

    int sizeOk() { return vector.size(); }

    synchronized int sizeHeldOk() { return vector.size(); }

    int spareBad(int pause) {
        int capacity = vector.capacity();
        Time.pass(pause);
        return capacity - vector.size();
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> vector.add(which);
            case 1 -> vector.clear();
            case 2, 3 -> spareBad(pause);
            case 4 -> sizeHeldOk();
            default -> sizeOk();
        }
    }
}

/** What an array was before it is known counts for nobody; what is kept besides does. */
class Kept implements Subject {
    private int[] data = new int[2];
    private int[] spare;

    private int[] keeping(boolean keep) {
        int[] made = keep ? new int[2] : new int[3];
        if (keep) spare = made;
        return made;
    }

    synchronized void renewBad(boolean keep, int pause) {
        data = keeping(keep);
        data[0]++;
        Time.pass(pause);
        data[1]++;
    }

    void spareBad(int pause) {
        int[] seen = spare;
        if (seen != null) {
            seen[0]++;
            Time.pass(pause);
            seen[1]++;
        }
    }

    public void act(int which, int pause) {
        if (which < 4) renewBad(which != 0, pause); else spareBad(pause);
    }
}

/** A tally that needs a lock of its owner, and one that has its own. */
interface Tally {
    int raise(int pause);
}

class BareTally implements Tally {
    private int first;
    private int second;

    public int raise(int pause) {
        first++;
        Time.pass(pause);
        return first - second++;
    }
}

class LockedTally implements Tally {
    private final Tally inside;

    LockedTally(Tally inside) { this.inside = inside; }

    public synchronized int raise(int pause) { return inside.raise(pause); }
}

/** What raises twice is one step for who owns the tally, and two for who shares one with a lock. */
class Summed implements Subject {
    private static final Tally SHARED = new LockedTally(new BareTally());
    private final Tally mine = new BareTally();

    private static int twice(Tally tally, int pause) { return tally.raise(pause) + tally.raise(0); }

    synchronized int mineOk(int pause) { return twice(mine, pause); }

    int sharedBad(int pause) { return twice(SHARED, pause); }

    int onceOk(int pause) { return SHARED.raise(pause); }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> sharedBad(pause);
            case 2, 3 -> onceOk(pause);
            default -> mineOk(pause);
        }
    }
}

interface Mark {
    void set(int pause);
}

/** Nobody holds a lock for this one. */
class BareMark implements Mark {
    private int first;
    private int second;

    public void set(int pause) {
        first++;
        Time.pass(pause);
        second++;
    }
}

class LockedMark implements Mark {
    private int set;

    public synchronized void set(int pause) { set++; }
}

/** One lock holder and one stranger to the lock use the same object. */
class Loose implements Subject {
    private static final Mark COMMON = new BareMark();
    private static final Mark LOCKED = new LockedMark();

    private static void mark(Mark mark, int pause) { mark.set(pause); }

    synchronized void heldBad(int pause) { mark(COMMON, pause); }

    void looseBad(int pause) { mark(COMMON, pause); }

    void locked(int pause) { mark(LOCKED, pause); }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> heldBad(pause);
            case 2 -> locked(pause);
            default -> looseBad(pause);
        }
    }
}

interface Part {
    void bump(int pause);
}

class BarePart implements Part {
    private int first;
    private int second;

    public void bump(int pause) {
        first++;
        Time.pass(pause);
        second++;
    }
}

/** Its own field never changes, but what it holds does, and nobody locks it. */
class HoldingPart implements Part {
    private final Inside inside = new Inside();

    public void bump(int pause) { inside.bump(pause); }
}

class Inside {
    private int first;
    private int second;

    void bump(int pause) {
        first++;
        Time.pass(pause);
        second++;
    }
}

class Nested implements Subject {
    private static final Part SHARED = new HoldingPart();
    private final Part mine = new BarePart();

    private static void both(Part part, int pause) { part.bump(pause); }

    synchronized void mine(int pause) { both(mine, pause); }

    void sharedBad(int pause) { both(SHARED, pause); }

    public void act(int which, int pause) {
        if (which < 3) mine(pause); else sharedBad(pause);
    }
}
