import java.io.PrintWriter;
import java.util.concurrent.CyclicBarrier;

/**
 * Uses many numbers of every kind: threads, shared objects, locks of several classes, regions, records. Argument: the file that
 * gets the result.
 */
public class Numbers {
    static class A { int n; synchronized void add() { n++; } }
    static class B extends A { synchronized void more() { n += 2; } }
    static class C extends B { synchronized void most() { n += 3; } }
    static class D { }
    static class E { }

    static final Object[] SHARED = new Object[20_000];

    static long use(int from) {
        long sum = 0;
        for (int i = 0; i < SHARED.length; i++) {
            Object o = SHARED[(i + from) % SHARED.length];
            if (o instanceof A) {
                A a = (A) o;
                a.add();
                if (o instanceof C) ((C) o).most();
                else if (o instanceof B) ((B) o).more();
                synchronized (a) {
                    sum += a.n > 0 ? 1 : 0;
                }
            } else {
                synchronized (o) {
                    sum++;
                }
            }
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < SHARED.length; i++) {
            SHARED[i] = i % 5 == 0 ? new A() : i % 5 == 1 ? new B() : i % 5 == 2 ? new C() : i % 5 == 3 ? new D() : new E();
        }
        long[] sums = new long[24];
        for (int round = 0; round < sums.length; round += 2) {
            CyclicBarrier both = new CyclicBarrier(2);
            Thread[] threads = new Thread[2];
            for (int t = 0; t < 2; t++) {
                int number = round + t;
                threads[t] = new Thread(() -> {
                    try {
                        both.await();
                    } catch (Exception broken) {
                        throw new IllegalStateException(broken);
                    }
                    sums[number] = use(number % 2 * 7);
                });
                threads[t].start();
            }
            for (Thread thread : threads) thread.join();
        }
        long total = 0;
        for (Object o : SHARED) {
            if (o instanceof A) total += ((A) o).n;
        }
        for (long sum : sums) total += sum;
        try (PrintWriter out = new PrintWriter(arguments[0])) {
            out.println(total);
        }
    }
}
