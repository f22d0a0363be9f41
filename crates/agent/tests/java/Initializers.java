import java.util.concurrent.CountDownLatch;

/**
 * Two regions that are torn only if class initializers are taken for parts of them: one initializes a class that the other
 * uses, and the other way round, in every way in which classes are initialized. With "torn", a region that is torn around
 * an initializer.
 */
public class Initializers {
    static int compute(int n) {
        return n + 1;
    }

    static class A {
        static int x = compute(1);
        static final Object LATER = new Object();
    }

    static class B {
        static int y = compute(2);
    }

    enum Color {
        RED, GREEN;
        static int count = values().length;
    }

    static class Nested {
        static int outer;

        static {
            outer = Inner.value + 1;
        }

        static class Inner {
            static int value = compute(3);
            static boolean ready;

            static {
                fill();
            }

            static void fill() {
                ready = true;
                value++;
            }
        }
    }

    static class Asserts {
        static int checked;

        static int check(int n) {
            assert n > 0;
            return ++checked;
        }
    }

    static class Fails {
        static int before = compute(4);
        static int never;

        static {
            if (before > 0) throw new IllegalStateException("on purpose");
            never = 1;
        }
    }

    static class Box {
        int content;
    }

    static class Starts {
        static int made;

        static {
            Box box = new Box();
            Thread helper = new Thread(new Runnable() {
                @Override
                public void run() {
                    box.content = compute(5);
                }
            });
            helper.start();
            try {
                helper.join();
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
            made = box.content;
        }
    }

    /** What an initializer changes beside its own class. */
    static class Registry {
        static int entries;
    }

    static class Registers {
        static int number = ++Registry.entries;
    }

    static class RegistersToo {
        static int number = ++Registry.entries;
    }

    static class Overflows {
        static int deep = down(1);

        static int down(int n) {
            return n < 0 ? 0 : down(n + 1) + 1;
        }
    }

    static int shared = 1;
    static final CountDownLatch FIRST = new CountDownLatch(1), SECOND = new CountDownLatch(1);
    static final CountDownLatch READ = new CountDownLatch(1), WRITTEN = new CountDownLatch(1);

    /** A lock that each thread has for itself, so that its methods are regions and exclude nobody. */
    static class Own {
        synchronized int first() throws InterruptedException {
            int sum = A.x + Color.count + Nested.Inner.value + Registers.number + Starts.made;
            try {
                sum += Fails.never;
            } catch (ExceptionInInitializerError expected) {
                sum++;
            }
            try {
                sum += Overflows.deep;
            } catch (StackOverflowError | NoClassDefFoundError expected) {
                sum++;
            }
            FIRST.countDown();
            SECOND.await();
            return sum + B.y + Nested.outer + Asserts.check(1) + RegistersToo.number;
        }

        synchronized int second() throws InterruptedException {
            FIRST.await();
            int sum = A.x + Color.GREEN.ordinal() + Color.count + Nested.Inner.value + Registers.number + Starts.made;
            sum += B.y + Nested.outer + RegistersToo.number;
            SECOND.countDown();
            return sum;
        }

        synchronized void around() throws InterruptedException {
            int seen = shared;
            READ.countDown();
            WRITTEN.await();
            shared = seen + Late.offset;
        }

        synchronized void between() throws InterruptedException {
            READ.await();
            shared = 7;
            WRITTEN.countDown();
        }
    }

    static class Late {
        static int offset = compute(0);
    }

    interface Body {
        void run() throws InterruptedException;
    }

    static Thread start(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        });
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        boolean torn = arguments.length > 0;
        Own one = new Own(), two = new Own();
        Thread first = start(() -> {
            one.first();
            if (torn) one.around();
        });
        Thread second = start(() -> {
            two.second();
            if (torn) two.between();
        });
        first.join();
        second.join();
        System.out.println("done");
    }
}
