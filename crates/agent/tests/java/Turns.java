/** Threads that pass a turn on, and wait for theirs in a loop that calls at most what gives the processor away. */
public final class Turns {
    static final class Box {
        int plain;
        volatile int loud;
    }

    static int plain;
    static volatile int loud;
    static final Box box = new Box();

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        String where = arguments[2];
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int me = i, next = (i + 1) % threads;
            Runnable body = switch (where) {
                case "field" -> () -> field(me, next, rounds);
                case "volatile" -> () -> loud(me, next, rounds);
                case "static" -> () -> constant(me, next, rounds);
                case "sleep" -> () -> asleep(me, next, rounds);
                case "spin" -> () -> spinning(me, next, rounds);
                case "empty" -> () -> empty(me, next, rounds);
                default -> throw new IllegalArgumentException(where);
            };
            all[i] = new Thread(body);
        }
        for (Thread thread : all) thread.start();
        for (Thread thread : all) thread.join();
    }

    static void field(int me, int next, int rounds) {
        for (int i = 0; i < rounds; i++) {
            while (box.plain != me) Thread.yield();
            box.plain = next;
        }
    }

    static void loud(int me, int next, int rounds) {
        for (int i = 0; i < rounds; i++) {
            while (box.loud != me) Thread.yield();
            box.loud = next;
        }
    }

    static void constant(int me, int next, int rounds) {
        for (int i = 0; i < rounds; i++) {
            while (loud != me) Thread.yield();
            loud = next;
        }
    }

    static void spinning(int me, int next, int rounds) {
        for (int i = 0; i < rounds; i++) {
            while (box.loud != me) Thread.onSpinWait();
            box.loud = next;
        }
    }

    static void empty(int me, int next, int rounds) {
        for (int i = 0; i < rounds; i++) {
            while (box.loud != me) {
                // Nothing gives the processor away.
            }
            box.loud = next;
        }
    }

    static void asleep(int me, int next, int rounds) {
        for (int i = 0; i < rounds; i++) {
            try {
                while (plain != me) Thread.sleep(0);
            } catch (InterruptedException never) {
                return;
            }
            plain = next;
        }
    }
}
