import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;

/** A little of everything that compilers make frames for. */
public class Program {
    static int counter;
    static final long START = Long.parseLong("40") + 2;
    int i;
    long l = 3;
    double d;
    float f;
    byte b;
    char c = 'x';
    short s;
    boolean z;
    String text;
    volatile long shared;
    int[] numbers = {5, 4, 3};
    final Object lock = new Object();

    static class Base {
        final String name;
        Base(String name) {
            this.name = name;
            if (name.isEmpty()) {
                throw new IllegalArgumentException("empty");
            }
        }
    }

    class Inner extends Base {
        final long stamp;
        Inner(boolean flag, int n) {
            super(flag ? "yes" + n : new String(n > 1 ? "many" : "one"));
            stamp = flag ? l : counter;
        }
        Inner(int n) {
            this(n % 2 == 0, n);
            i += n;
        }
    }

    interface Shape {
        double area();
        default String show() {
            try {
                return getClass().getSimpleName() + ":" + Math.round(area());
            } finally {
                counter++;
            }
        }
        static Shape square(double side) {
            return () -> side * side;
        }
    }

    record Point(int x, long y) implements Shape {
        Point {
            if (x < 0) throw new IllegalStateException("x=" + x);
        }
        public double area() { return x * (double) y; }
    }

    enum Kind {
        SMALL { int weight() { return 1; } }, LARGE { int weight() { return 10; } };
        abstract int weight();
    }

    synchronized int bump(int by) {
        i += by;
        if (i > 100) throw new RuntimeException("over " + i);
        return i;
    }

    static synchronized long bumpStatic() {
        return ++counter;
    }

    int nested(int rounds) {
        int sum = 0;
        synchronized (lock) {
            while (rounds-- > 0) {
                synchronized (this) {
                    if (rounds == 3) continue;
                    if (rounds == 1) return sum;
                    try {
                        sum += bump(rounds * 7);
                    } catch (RuntimeException over) {
                        i = 0;
                        sum -= 1;
                    } finally {
                        shared += sum;
                    }
                }
            }
        }
        return -sum;
    }

    Object choose(int n) {
        switch (n) {
            case 0: return new StringBuilder(n == 0 ? "zero" : "other").append(l).toString();
            case 1: l += 2; d = l / 3.0; f = (float) d; return f;
            case 2: b = (byte) 300; s = (short) (b + 1); c++; z = !z; return "" + b + s + c + z;
            case 100: return numbers[0] + numbers[1];
            default: break;
        }
        String key = n > 5 ? "five" : "less";
        switch (key) {
            case "five": text = text == null ? "t" : text + "t"; return text;
            case "less": return new long[] {l, n}[1];
            default: return null;
        }
    }

    static String thrown(Supplier<Object> work) {
        try {
            return String.valueOf(work.get());
        } catch (IllegalStateException | IllegalArgumentException expected) {
            return expected.getClass().getSimpleName() + "/" + expected.getMessage();
        } catch (RuntimeException other) {
            return "other " + other.getMessage();
        }
    }

    static long mix(long a, double x, int n, long[] out) {
        long result = a;
        for (int k = 0; k < n; k++) {
            long t = result * 31 + (long) x;
            if ((t & 1) == 0) {
                double half = t / 2.0;
                result = (long) half;
            } else {
                result = t;
            }
            out[k % out.length] ^= result;
        }
        return result;
    }

    static <T extends Comparable<T>> T max(List<T> list) {
        T best = null;
        for (T item : list) {
            if (best == null || item.compareTo(best) > 0) best = item;
        }
        return best;
    }

    public static void main(String[] args) throws Exception {
        Program p = new Program();
        System.out.println(START + " " + p.nested(6) + " " + p.i + " " + p.shared);
        for (int n : new int[] {0, 1, 2, 100, 3, 7, 8}) System.out.println(p.choose(n));
        System.out.println(p.new Inner(2).name + p.new Inner(3).name + p.new Inner(1).name + p.i + p.new Inner(4).stamp);
        System.out.println(thrown(() -> new Base("")) + thrown(() -> new Point(-1, 2)) + thrown(() -> p.bump(1000)));
        System.out.println(new Point(3, 4).show() + new Point(3, 4) + new Point(1, 2).equals(new Point(1, 2)));
        System.out.println(Math.round(Shape.square(3).area()));
        IntBinaryOperator add = (x, y) -> x + y * p.numbers[2];
        System.out.println(add.applyAsInt(2, 5) + " " + Kind.valueOf("LARGE").weight() + Kind.SMALL.weight());
        long[] out = new long[3];
        System.out.println(mix(7, 2.5, 50, out) + " " + out[0] + " " + out[1] + " " + out[2]);
        List<String> list = new ArrayList<>(List.of("b", "c", "a"));
        System.out.println(max(list) + new TreeMap<>(java.util.Map.of(1, "x", 2, "y")));
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> { for (int k = 0; k < 1000; k++) bumpStatic(); });
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(counter);
        try {
            Object o = "not a number";
            Integer n = (Integer) o;
            System.out.println(n);
        } catch (ClassCastException expected) {
            System.out.println("cast refused");
        }
        StackTraceElement top = new Throwable().getStackTrace()[0];
        System.out.println(top.getMethodName() + ":" + top.getLineNumber());
        String hooks = System.getProperty("hooks");
        if (hooks != null) System.err.println(Class.forName(hooks).getMethod("counts").invoke(null));
    }
}
