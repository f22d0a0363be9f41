import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Everything about fields, monitors and control flow that a rewriter can get wrong. It prints what it computes. */
public class Torture {
    // ---- fields of every kind, at every place ---------------------------------------------------------------------
    byte b; short s; char c; int i; long l; float f; double d; boolean z; String text; int[] array; long[][] grid;
    volatile long vl; volatile int vi;
    final int fixed;
    static int si; static long sl; static double sd; static String st; static volatile boolean sv;

    static class Early {
        static int value = note("Early") + 1;
        static final Object OBJECT = new Object();
        static long wide = 7;
    }

    interface Constants {
        Object HIDDEN = note("Constants");
        default int twice(Torture t) { return t.i * 2 + si; }
    }

    static class Impl implements Constants {
        static int own = 3;
    }

    static int note(String what) {
        System.out.println("initialized " + what);
        return what.length();
    }

    static class Base {
        int inherited = 5;
        static int shared = 6;
        Base(int x) { inherited += x; hook(); }
        void hook() {}
    }

    static class Derived extends Base {
        int late = 9;
        Torture outer;
        Derived(Torture t, boolean flag) {
            super(flag ? t.i : t.fixed);
            outer = t;
            late += inherited + shared;
        }
        Derived(Torture t) { this(t, t.i > 0); late++; }
        @Override void hook() { late = 1000; }
    }

    class Inner {
        int mine = i + 1;
        int sum() { return mine + i + fixed; }
    }

    enum Color { RED { int code() { return 1 + seen; } }, GREEN { int code() { return 2; } };
        int seen = 4; abstract int code(); }

    record Pair(int a, String b) { Pair { if (a < 0) throw new IllegalArgumentException("negative"); } }

    Torture(int fixed) {
        this.fixed = fixed;
        array = new int[] {1, 2, 3};
        grid = new long[2][2];
        i = this.fixed + 1;
    }

    String all() {
        b++; s += 2; c += 3; i <<= 1; l = l * 31 + i; f += .5f; d -= 1.25; z = !z;
        text = text + i + l;
        vl += 5; vi--; si++; sl += si; sd += sl; st = text + st; sv ^= true;
        array[1] += array[0]++ + ++array[2];
        grid[1][0] += l; grid[0][1] = grid[1][0]--;
        return b + "," + s + "," + (int) c + "," + i + "," + l + "," + f + "," + d + "," + z + "," + text + "," + vl + ","
            + vi + "," + si + "," + sl + "," + sd + "," + st + "," + sv + "," + Arrays.toString(array)
            + Arrays.deepToString(grid);
    }

    // ---- exceptions at accesses ----------------------------------------------------------------------------------
    static String thrown(Supplier<Object> work) {
        try {
            return "value " + work.get();
        } catch (Throwable t) {
            return t.getClass().getSimpleName() + ": " + t.getMessage();
        }
    }

    static Object tryHarder(Torture t, int[] a, int at, Object[] objects) {
        int step = 0;
        String trail = "";
        double local = 1.5;
        try {
            step = 1;
            t.i = a[at];
            step = 2;
            try {
                objects[at] = Integer.valueOf(t.i);
                step = 3;
                t.l = t.grid[at][at];
            } catch (ArrayStoreException | ArrayIndexOutOfBoundsException wrong) {
                trail += wrong.getClass().getSimpleName() + step;
                local += t.d;
            } finally {
                trail += "f" + step;
                t.d += local;
            }
            step = 4;
        } catch (NullPointerException none) {
            trail += "n" + step;
        } catch (RuntimeException other) {
            trail += "r" + step + (t == null ? "" : "" + t.i);
        } finally {
            trail += "e" + (long) local;
        }
        return trail + step;
    }

    // ---- monitors ------------------------------------------------------------------------------------------------
    final Object lock = new Object(), other = new Object();
    int guarded;

    int nested(int mode) {
        int result = 0;
        for (int round = 0; round < 3; round++) {
            synchronized (lock) {
                guarded += round;
                if (mode == 1 && round == 1) continue;
                synchronized (other) {
                    if (mode == 2) return guarded * 10;
                    if (mode == 3) throw new IllegalStateException("three " + guarded);
                    try {
                        synchronized (lock) {
                            if (mode == 4) break;
                            guarded++;
                            if (mode == 5) throw new IllegalStateException("five");
                        }
                    } catch (IllegalStateException caught) {
                        result += Thread.holdsLock(lock) && Thread.holdsLock(other) ? 100 : 0;
                    } finally {
                        result += guarded;
                    }
                }
                if (mode == 6) ((Torture) null).i = 3;
            }
            if (Thread.holdsLock(lock) || Thread.holdsLock(other)) result -= 100000;
        }
        return result;
    }

    synchronized int whole(int mode) {
        if (mode == 0) throw new UnsupportedOperationException("whole " + Thread.holdsLock(this));
        return Thread.holdsLock(this) ? guarded + mode : -1;
    }

    static synchronized long classWide(long x) {
        if (x < 0) throw new IllegalArgumentException("class " + Thread.holdsLock(Torture.class));
        return Thread.holdsLock(Torture.class) ? x + sl : -1;
    }

    static Object nullLock(Object lock) {
        synchronized (lock) {
            return "never";
        }
    }

    String box;

    void put(String value) throws InterruptedException {
        synchronized (this) {
            while (box != null) wait();
            box = value;
            notifyAll();
        }
    }

    synchronized String take() throws InterruptedException {
        while (box == null) wait(1000L);
        String value = box;
        box = null;
        notifyAll();
        return value;
    }

    // ---- deep recursion: monitors and accesses while the stack runs out ---------------------------------------------
    int depth;

    int deep() {
        synchronized (lock) {
            depth++;
            try {
                return deep() + 1;
            } finally {
                depth--;
            }
        }
    }

    synchronized void deeper() {
        depth++;
        deeper();
    }

    static String overflow(Runnable work) {
        try {
            work.run();
            return "returned";
        } catch (StackOverflowError full) {
            return "overflow";
        }
    }

    static int lineOf(Supplier<Object> work) {
        try {
            work.get();
            return -1;
        } catch (RuntimeException e) {
            return e.getStackTrace()[0].getLineNumber();
        }
    }

    Torture missing;

    public static void main(String[] args) throws Exception {
        Torture t = new Torture(20);
        for (int round = 0; round < 3; round++) System.out.println(t.all());
        System.out.println(Impl.own + new Impl().twice(t));
        System.out.println(Early.value + Early.wide++ + (Early.OBJECT == null ? 1 : 0));
        Early.value += Early.wide;
        System.out.println(Impl.HIDDEN + " " + Early.value);
        Derived derived = new Derived(t);
        System.out.println(derived.late + " " + derived.inherited + " " + Derived.shared++ + " " + Base.shared);
        System.out.println(t.new Inner().sum() + " " + Color.RED.code() + Color.GREEN.code());
        System.out.println(new Pair(3, "x") + " " + new Pair(3, "x").equals(new Pair(3, "x"))
            + thrown(() -> new Pair(-1, "")));
        IntSupplier lambda = () -> t.i++ + si;
        System.out.println(lambda.getAsInt() + lambda.getAsInt());

        Torture none = null;
        System.out.println(thrown(() -> none.i));
        System.out.println(thrown(() -> none.l++));
        System.out.println(thrown(() -> none.text = "x"));
        System.out.println(thrown(() -> t.missing.missing.d = 2));
        System.out.println(thrown(() -> t.missing.grid[0][0]));
        System.out.println(thrown(() -> t.array[7]));
        System.out.println(thrown(() -> nullLock(none)));
        Object[][] targets = {new Object[2], new String[2], new Object[0], null};
        for (Object[] objects : targets) {
            for (int at : new int[] {0, 1, 2, -1}) {
                System.out.println(tryHarder(t, new int[] {4, 5}, at, objects) + " " + t.i + " " + t.d);
            }
        }
        System.out.println(tryHarder(null, new int[1], 0, null));

        for (int mode = 0; mode <= 6; mode++) {
            int m = mode;
            System.out.println(mode + " " + thrown(() -> t.nested(m)) + " " + thrown(() -> t.whole(m)) + " "
                + thrown(() -> classWide(m - 1)) + Thread.holdsLock(t) + Thread.holdsLock(t.lock));
        }
        System.out.println(thrown(() -> { try { t.lock.wait(); return 1; } catch (InterruptedException e) { return 2; } }));
        System.out.println(thrown(() -> { t.lock.notify(); return 1; }));

        List<String> got = new ArrayList<>();
        Thread producer = new Thread(() -> {
            try {
                for (int n = 0; n < 50; n++) t.put("v" + n);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        producer.start();
        for (int n = 0; n < 50; n++) got.add(t.take());
        producer.join();
        System.out.println(got);
        Thread waiter = new Thread(() -> {
            try {
                t.take();
            } catch (InterruptedException e) {
                System.out.println("interrupted " + Thread.holdsLock(t));
            }
        });
        waiter.start();
        waiter.interrupt();
        waiter.join();

        Thread deep = new Thread(null, () -> {
            System.out.println(overflow(t::deep) + " " + Thread.holdsLock(t.lock));
            System.out.println(overflow(t::deeper) + " " + Thread.holdsLock(t));
            t.depth = 0;
        }, "deep", 1 << 18);
        deep.start();
        deep.join();
        System.out.println(t.depth);
        System.out.println(lineOf(() -> none.i) - lineOf(() -> none.d));
        for (Class<?> k : new Class<?>[] {Torture.class, Derived.class, Pair.class, Color.class}) {
            System.out.println(Arrays.toString(k.getDeclaredFields()));
        }
    }
}
