import java.util.ArrayList;
import java.util.HashMap;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntConsumer;

/** Methods that end in Ok are to be proved, those in Bad never; all others are only watched. */
public class Programs {
    static final int THREADS = 3;

    public static void main(String[] arguments) throws Exception {
        long seed = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        Subject[] subjects = {
            new Account(), new Racy(), new Buffer(), new Cache(), new Lazy(), new Shelf(), new Trying(), new Watched(),
            new Plain(), new Stepping(), new Leaking(), new Sharing(new int[2]), new Outer(), new Mixed(), new Swapping(),
            new Gate(), new Pairs(), new HandOver(), new Exposed(), new Copied(), new Wrapped(), new Handed(), new Chain(),
            new Registry(), new Stamped(), new Reentering(), new Escaping(), new Throwing(), new Looping(), new Published(),
        };
        // Types take the initialization of a class for no step; a run sees it in the region that happens to come first.
        synchronized (Outer.Kept.LOCK) { Outer.Kept.kept = 0; }
        run(subjects, seed, rounds);
    }

    /** All subjects in a few threads. */
    static void run(Subject[] subjects, long seed, int rounds) throws InterruptedException {
        CyclicBarrier together = new CyclicBarrier(THREADS);
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(seed * 31 + t);
            threads[t] = new Thread(() -> drive(subjects, together, random, rounds));
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
    }

    /** All threads dwell on one subject for a while, so that they meet. */
    private static void drive(Subject[] subjects, CyclicBarrier together, Random random, int rounds) {
        for (Subject subject : subjects) {
            try {
                together.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            for (int round = 0; round < rounds; round++) {
                subject.act(random.nextInt(8), random.nextInt(4) == 0 ? random.nextInt(100000) : 0);
                if (random.nextInt(6) == 0) Thread.yield();
            }
        }
    }
}

/** Time passes, and nothing else happens. */
final class Time {
    static int pass(int steps) {
        int x = steps;
        for (int i = 0; i < steps; i++) x = x * 31 + i;
        return x == 42 ? 1 : 0;
    }
}

interface Subject {
    void act(int which, int pause);
}

class Account implements Subject {
    private int balance;
    private int deposits;

    synchronized int readOk() { return balance; }

    synchronized void setOk(int next) { balance = next; }

    synchronized void depositOk(int amount, int pause) {
        balance += amount;
        Time.pass(pause);
        deposits++;
    }

    void depositBad(int amount, int pause) {
        int before = readOk();
        Time.pass(pause);
        setOk(before + amount);
    }

    void twoBlocksBad(int amount, int pause) {
        synchronized (this) { balance += amount; }
        Time.pass(pause);
        synchronized (this) { deposits++; }
    }

    synchronized void heldOk(int amount) {
        depositOk(amount, 0);
        depositOk(-amount, 0);
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> depositBad(1, pause);
            case 1 -> twoBlocksBad(1, pause);
            case 2 -> heldOk(3);
            case 3 -> readOk();
            default -> depositOk(2, pause);
        }
    }
}

class Racy implements Subject {
    private int plain;
    private volatile int seen;
    private final AtomicInteger exact = new AtomicInteger();
    private final AtomicInteger other = new AtomicInteger();

    void plainBad(int pause) {
        int before = plain;
        Time.pass(pause);
        plain = before + 1;
    }

    void volatileBad(int pause) {
        int before = seen;
        Time.pass(pause);
        seen = before + 1;
    }

    int exactOk() { return exact.incrementAndGet(); }

    void exactBad(int pause) {
        int before = exact.get();
        Time.pass(pause);
        exact.set(before + 1);
    }

    void bothBad(int pause) {
        exact.incrementAndGet();
        Time.pass(pause);
        other.incrementAndGet();
    }

    int seenOk() { return seen; }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> plainBad(pause);
            case 1 -> volatileBad(pause);
            case 2 -> exactBad(pause);
            case 3 -> bothBad(pause);
            case 4 -> seenOk();
            default -> exactOk();
        }
    }
}

class Buffer implements Subject {
    private char[] value = new char[4];
    private int count;

    synchronized int lengthOk() { return count; }

    synchronized char charAtOk(int index) { return index < count ? value[index] : 0; }

    synchronized void appendOk(char c, int pause) {
        if (count == value.length) {
            char[] larger = new char[count * 2];
            System.arraycopy(value, 0, larger, 0, count);
            value = larger;
        }
        value[count] = c;
        Time.pass(pause);
        count++;
        if (count > 60) count = 0;
    }

    void appendTwiceBad(char c, int pause) {
        int at = lengthOk();
        Time.pass(pause);
        if (at == lengthOk()) appendOk(c, 0);
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> appendTwiceBad('x', pause);
            case 1 -> charAtOk(1);
            default -> appendOk('y', pause);
        }
    }
}

class Cache implements Subject {
    private final HashMap<String, Integer> map = new HashMap<>();
    private final ConcurrentHashMap<String, Integer> concurrent = new ConcurrentHashMap<>();

    synchronized Integer getOk(String key) { return map.get(key); }

    synchronized void putOk(String key, int value) { map.put(key, value); }

    synchronized void addOk(String key, int pause) {
        Integer old = map.get(key);
        Time.pass(pause);
        map.put(key, old == null ? 1 : old + 1);
    }

    void addBad(String key, int pause) {
        Integer old = getOk(key);
        Time.pass(pause);
        putOk(key, old == null ? 1 : old + 1);
    }

    void claimOk(String key) { concurrent.putIfAbsent(key, 1); }

    void claimBad(String key, int pause) {
        Integer old = concurrent.get(key);
        Time.pass(pause);
        concurrent.put(key, old == null ? 1 : old + 1);
    }

    public void act(int which, int pause) {
        String key = which % 2 == 0 ? "a" : "b";
        switch (which) {
            case 0, 1 -> addBad(key, pause);
            case 2, 3 -> claimBad(key, pause);
            case 4 -> claimOk(key);
            default -> addOk(key, pause);
        }
    }
}

class Lazy implements Subject {
    private static Object shared;
    private Object own;
    private volatile Object checked;

    Object ownBad(int pause) {
        if (own == null) {
            Time.pass(pause);
            own = new Object();
        }
        return own;
    }

    static synchronized Object sharedOk() {
        if (shared == null) shared = new Object();
        return shared;
    }

    static synchronized void forgetOk() { shared = null; }

    Object checked(int pause) {
        Object seen = checked;
        if (seen == null) {
            synchronized (this) {
                seen = checked;
                if (seen == null) {
                    Time.pass(pause);
                    seen = new Object();
                    checked = seen;
                }
            }
        }
        return seen;
    }

    void resetBad(int pause) {
        own = null;
        Time.pass(pause);
        checked = null;
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> ownBad(pause);
            case 1 -> resetBad(pause);
            case 2 -> forgetOk();
            case 3 -> checked(pause);
            default -> sharedOk();
        }
    }
}

class Shelf implements Subject {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private int items;
    private int changes;

    int itemsOk() {
        lock.readLock().lock();
        try { return items + changes; } finally { lock.readLock().unlock(); }
    }

    void addOk(int pause) {
        lock.writeLock().lock();
        try {
            items++;
            Time.pass(pause);
            changes++;
        } finally { lock.writeLock().unlock(); }
    }

    void upgradeBad(int pause) {
        int seen;
        lock.readLock().lock();
        try { seen = items; } finally { lock.readLock().unlock(); }
        Time.pass(pause);
        lock.writeLock().lock();
        try { items = seen + 1; } finally { lock.writeLock().unlock(); }
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> upgradeBad(pause);
            case 2 -> itemsOk();
            default -> addOk(pause);
        }
    }
}

class Trying implements Subject {
    private final ReentrantLock lock = new ReentrantLock();
    private int tries;
    private int hits;

    boolean tryOk(int pause) {
        if (!lock.tryLock()) return false;
        try {
            tries++;
            Time.pass(pause);
            hits++;
        } finally { lock.unlock(); }
        return true;
    }

    void bothOk() {
        lock.lock();
        try {
            tries++;
            hits++;
        } finally { lock.unlock(); }
    }

    void twiceBad(int pause) {
        int seen;
        lock.lock();
        try { seen = tries; } finally { lock.unlock(); }
        Time.pass(pause);
        if (lock.tryLock()) {
            try { tries = seen + 1; } finally { lock.unlock(); }
        }
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> twiceBad(pause);
            case 2 -> bothOk();
            default -> tryOk(pause);
        }
    }
}

class Watched implements Subject {
    private final ArrayList<Integer> list = new ArrayList<>();

    synchronized void addOk(int value) {
        list.add(value);
        if (list.size() > 50) list.clear();
    }

    synchronized int sizeOk() { return list.size(); }

    void addOnceBad(int value, int pause) {
        if (sizeOk() % 2 == 0) {
            Time.pass(pause);
            addOk(value);
        }
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> addOnceBad(which, pause);
            case 2 -> sizeOk();
            default -> addOk(which);
        }
    }
}

/** The fields have no lock at all. */
class Plain implements Subject {
    private int left;
    private int right;

    void setBad(int value, int pause) {
        left = value;
        Time.pass(pause);
        right = value;
    }

    int sumBad(int pause) {
        int seen = left;
        Time.pass(pause);
        return seen + right;
    }

    int left() { return left; }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> setBad(which, pause);
            case 2, 3 -> sumBad(pause);
            default -> left();
        }
    }
}

/** What a method inherits may call what a subclass makes worse. */
abstract class Template {
    abstract void step(int pause);

    synchronized void runBad(int pause) {
        step(pause);
        step(pause);
    }
}

class Counter {
    private int value;

    synchronized void bumpOk() { value++; }

    synchronized int valueOk() { return value; }
}

class Stepping extends Template implements Subject {
    private static final Counter COUNTER = new Counter();

    @Override
    void step(int pause) {
        Time.pass(pause);
        COUNTER.bumpOk();
    }

    public void act(int which, int pause) {
        if (which < 3) runBad(pause); else new Stepping().runBad(pause);
    }
}

/** Another thread knows the object before its constructor is done. */
class Leaking implements Subject {
    static volatile Leaking last;
    private int count;
    private int more;

    Leaking() {
        last = this;
        count = 1;
        Time.pass(200);
        more = 1;
    }

    synchronized void addBad(int pause) {
        count++;
        Time.pass(pause);
        more++;
    }

    public void act(int which, int pause) {
        if (which == 0) new Leaking();
        Leaking seen = last;
        seen.addBad(pause);
    }
}

/** Two objects with two locks share an array. */
class Sharing implements Subject {
    private final int[] data;

    Sharing(int[] data) { this.data = data; }

    synchronized void addBad(int pause) {
        data[0]++;
        Time.pass(pause);
        data[1]++;
    }

    Sharing twin() { return new Sharing(data); }

    public void act(int which, int pause) {
        if (which % 2 == 0) addBad(pause); else twin().addBad(pause);
    }
}

class Outer implements Subject {
    private int value;
    private int twice;
    private final Inner inner = new Inner();

    class Inner {
        void bumpBad(int pause) {
            value++;
            Time.pass(pause);
            twice += 2;
        }

        void bumpOk(int pause) {
            synchronized (Kept.LOCK) {
                Kept.kept++;
                Time.pass(pause);
                Kept.more++;
            }
        }
    }

    static final class Kept {
        static final Object LOCK = new Object();
        static int kept;
        static int more;
    }

    synchronized void setBad(int next, int pause) {
        value = next;
        Time.pass(pause);
        twice = 2 * next;
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> inner.bumpBad(pause);
            case 2, 3 -> inner.bumpOk(pause);
            default -> setBad(which, pause);
        }
    }
}

/** The lock of the class is not the lock of the object. */
class Mixed implements Subject {
    private static int first;
    private static int second;

    static synchronized void byClassBad(int pause) {
        first++;
        Time.pass(pause);
        second++;
    }

    synchronized void byObjectBad(int pause) {
        first++;
        Time.pass(pause);
        second++;
    }

    public void act(int which, int pause) {
        if (which % 2 == 0) byClassBad(pause); else byObjectBad(pause);
    }
}

/** The lock is not always the same. */
class Swapping implements Subject {
    private Object lock = new Object();
    private int a;
    private int b;

    void swap() { lock = new Object(); }

    void bumpBad(int pause) {
        synchronized (lock) {
            a++;
            Time.pass(pause);
            b++;
        }
    }

    public void act(int which, int pause) {
        if (which == 0) swap(); else bumpBad(pause);
    }
}

class Gate implements Subject {
    private int passed;
    private int waited;

    synchronized void passBad(int pause) throws InterruptedException {
        passed++;
        wait(1);
        waited++;
    }

    synchronized void openOk() { notifyAll(); }

    synchronized int bothOk() { return passed + waited; }

    public void act(int which, int pause) {
        try {
            switch (which) {
                case 0 -> passBad(pause);
                case 1 -> openOk();
                default -> bothOk();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

class Pairs implements Subject {
    private final Object left = new Object();
    private final Object right = new Object();
    private int a;
    private int b;

    void bothOk(int pause) {
        synchronized (left) {
            synchronized (right) {
                a++;
                Time.pass(pause);
                b++;
            }
        }
    }

    void eachBad(int pause) {
        synchronized (left) { a++; }
        Time.pass(pause);
        synchronized (right) { b++; }
    }

    int leftOk() { synchronized (left) { return a; } }

    int rightOk() { synchronized (right) { return b; } }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> eachBad(pause);
            case 2 -> leftOk();
            case 3 -> rightOk();
            default -> bothOk(pause);
        }
    }
}

class HandOver implements Subject {
    private final ReentrantLock first = new ReentrantLock();
    private final ReentrantLock second = new ReentrantLock();
    private int a;
    private int b;

    void overOk(int pause) {
        first.lock();
        try {
            a++;
            second.lock();
        } finally { first.unlock(); }
        try {
            Time.pass(pause);
            b++;
        } finally { second.unlock(); }
    }

    void backBad(int pause) {
        second.lock();
        try { b++; } finally { second.unlock(); }
        Time.pass(pause);
        first.lock();
        try { a++; } finally { first.unlock(); }
    }

    public void act(int which, int pause) {
        if (which < 3) backBad(pause); else overOk(pause);
    }
}

/** What is inside is handed out. */
class Exposed implements Subject {
    private final int[] data = new int[2];

    int[] data() { return data; }

    synchronized void addBad(int pause) {
        data[0]++;
        Time.pass(pause);
        data[1]++;
    }

    public void act(int which, int pause) {
        if (which < 3) data()[which % 2]++; else addBad(pause);
    }
}

/** A shallow copy has a lock of its own, and the same array. */
class Copied implements Subject, Cloneable {
    private int[] data = new int[2];

    synchronized void addBad(int pause) {
        data[0]++;
        Time.pass(pause);
        data[1]++;
    }

    Copied copy() {
        try {
            return (Copied) clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }

    public void act(int which, int pause) {
        if (which % 2 == 0) addBad(pause); else copy().addBad(pause);
    }
}

/** A lock around an object that keeps no lock, and that nobody else knows. */
class Wrapped implements Subject {
    private final Bare bare = new Bare();

    synchronized void bumpOk(int pause) { bare.bump(pause); }

    synchronized int sumOk() { return bare.sum(); }

    void twiceBad(int pause) {
        bumpOk(pause);
        bumpOk(pause);
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> twiceBad(pause);
            case 1 -> sumOk();
            default -> bumpOk(pause);
        }
    }
}

class Bare {
    private int one;
    private int two;

    void bump(int pause) {
        one++;
        Time.pass(pause);
        two++;
    }

    int sum() { return one + two; }
}

/** The same, but somebody else knows the inside. */
class Handed implements Subject {
    private final Bare2 bare = new Bare2();

    Bare2 bare() { return bare; }

    synchronized void bumpBad(int pause) { bare.bumpBad(pause); }

    public void act(int which, int pause) {
        if (which < 3) bare().bumpBad(pause); else bumpBad(pause);
    }
}

class Bare2 {
    private int one;
    private int two;

    void bumpBad(int pause) {
        one++;
        Time.pass(pause);
        two++;
    }
}

/** The elements have the list's lock. */
class Chain implements Subject {
    private Link head;

    static final class Link {
        int number;
        Link next;

        Link(int number, Link next) {
            this.number = number;
            this.next = next;
        }
    }

    synchronized void add(int number, int pause) {
        head = new Link(number, head);
        Time.pass(pause);
        if (head.number > 100) head = null;
    }

    synchronized int sum(int pause) {
        int sum = 0;
        for (Link at = head; at != null && sum < 20; at = at.next) sum += at.number;
        Time.pass(pause);
        return sum;
    }

    synchronized void raise(int pause) {
        if (head != null) {
            head.number++;
            Time.pass(pause);
            head.number++;
        }
    }

    void pairBad(int pause) {
        add(1, pause);
        add(2, pause);
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> pairBad(pause);
            case 1 -> raise(pause);
            case 2 -> sum(pause);
            default -> add(which, pause);
        }
    }
}

/** Listeners are anybody's code. */
class Registry implements Subject {
    private IntConsumer listener = n -> { };
    private int told;
    private final Counter counter = new Counter();

    synchronized void listen(IntConsumer next) { listener = next; }

    synchronized void tellBad(int pause) {
        listener.accept(told);
        Time.pass(pause);
        told++;
        listener.accept(told);
    }

    public void act(int which, int pause) {
        if (which == 0) listen(n -> counter.bumpOk()); else tellBad(pause);
        if (which == 7) counter.valueOk();
    }
}

/** A version number that readers check is no lock. */
class Stamped implements Subject {
    private volatile int version;
    private volatile int value;

    void writeBad(int next, int pause) {
        version++;
        value = next;
        Time.pass(pause);
        version++;
    }

    int readBad(int pause) {
        int before = version;
        int seen = value;
        Time.pass(pause);
        return before == version ? seen : -1;
    }

    public void act(int which, int pause) {
        if (which < 4) writeBad(which, pause); else readBad(pause);
    }
}

/** Locks count how often they are held. */
class Reentering implements Subject {
    private final ReentrantLock lock = new ReentrantLock();
    private int a;
    private int b;

    void nested(int pause) {
        lock.lock();
        try {
            a++;
            lock.lock();
            try { b++; } finally { lock.unlock(); }
            Time.pass(pause);
            a++;
        } finally { lock.unlock(); }
    }

    /** Gives back what it did not take. */
    private void release() { lock.unlock(); }

    void releasedBad(int pause) {
        lock.lock();
        a++;
        release();
        Time.pass(pause);
        lock.lock();
        b++;
        lock.unlock();
    }

    public void act(int which, int pause) {
        if (which < 3) releasedBad(pause); else nested(pause);
    }
}

/** An object is its thread's own, until it is not. */
class Escaping implements Subject {
    static final class Box {
        int value;
        int twice;

        void set(int next, int pause) {
            value = next;
            Time.pass(pause);
            twice = 2 * next;
        }
    }

    private volatile Box known = new Box();

    int aloneOk(int next, int pause) {
        Box box = new Box();
        box.set(next, pause);
        return box.twice;
    }

    void knownBad(int next, int pause) { known.set(next, pause); }

    void putBad(int next, int pause) {
        Box box = new Box();
        known = box;
        box.set(next, pause);
    }

    public void act(int which, int pause) {
        switch (which) {
            case 0, 1 -> putBad(which, pause);
            case 2 -> aloneOk(which, pause);
            default -> knownBad(which, pause);
        }
    }
}

/** Locks are given back by exceptions too. */
class Throwing implements Subject {
    private int a;
    private int b;

    private synchronized void bump(int pause) {
        a++;
        Time.pass(pause);
        b++;
        if (b % 3 == 0) throw new IllegalStateException();
    }

    void againBad(int pause) {
        try {
            bump(pause);
        } catch (IllegalStateException e) {
            synchronized (this) { b++; }
        }
    }

    synchronized void againOk(int pause) {
        try {
            bump(pause);
        } catch (IllegalStateException e) {
            b++;
        }
    }

    public void act(int which, int pause) {
        if (which < 4) againBad(pause); else againOk(pause);
    }
}

class Looping implements Subject {
    private int free = 4;

    private synchronized boolean take() {
        if (free == 0) return false;
        free--;
        return true;
    }

    synchronized void giveOk() { if (free < 4) free++; }

    void spinBad(int pause) {
        for (int i = 0; i < 3 && !take(); i++) Time.pass(pause);
    }

    synchronized void fillOk() { while (free < 4) free++; }

    public void act(int which, int pause) {
        switch (which) {
            case 0 -> giveOk();
            case 1 -> fillOk();
            default -> spinBad(pause);
        }
    }
}

/** The inside changes hands without a lock. */
class Published implements Subject {
    static final class Pair {
        int a;
        int b;
    }

    private Pair pair = new Pair();

    Pair takeBad(int pause) {
        Pair mine = pair;
        Time.pass(pause);
        pair = new Pair();
        return mine;
    }

    void addBad(int pause) {
        Pair seen = pair;
        seen.a++;
        Time.pass(pause);
        seen.b++;
    }

    public void act(int which, int pause) {
        if (which == 0) takeBad(pause); else addBad(pause);
    }
}
