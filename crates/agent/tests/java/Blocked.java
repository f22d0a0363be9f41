import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that owns objects stands still in some way until another thread has used them all.
 * Argument: in which way. It ends with status 9 if they wait for each other for half a minute.
 */
public class Blocked {
    static final int CELLS = 100;

    static final class Cell {
        long value;
    }

    /** Not watched. */
    static final class Outside {
        static volatile boolean go, inside, released;
        static final CountDownLatch owned = new CountDownLatch(1);
        static final CountDownLatch held = new CountDownLatch(1);
        static volatile Thread owner;

        static void spin() {
            inside = true;
            while (!released) Thread.onSpinWait();
        }

        /** Until the owner is where it should be. */
        static void settle(String how) throws Exception {
            Thread.State state = switch (how) {
                case "monitor", "method" -> Thread.State.BLOCKED;
                case "wait", "park" -> Thread.State.WAITING;
                case "sleep" -> Thread.State.TIMED_WAITING;
                case "dead" -> Thread.State.TERMINATED;
                default -> null;
            };
            while (state != null && owner.getState() != state) Thread.sleep(1);
            while (how.equals("spin") && !inside) Thread.sleep(1);
            Thread.sleep(50);
        }
    }

    static final Object lock = new Object();
    static Cell[] cells = new Cell[CELLS];
    static volatile boolean done;

    /** Its initializer is run by the thread that wants the objects. */
    static final class Slow {
        static int value;

        static {
            try {
                Outside.go = true;
                Outside.settle("class");
                use();
            } catch (Exception unexpected) {
                throw new IllegalStateException(unexpected);
            }
        }
    }

    static synchronized void method() {}

    static void use() {
        long sum = 0;
        for (Cell cell : cells) {
            sum += cell.value;
            cell.value = sum;
        }
    }

    static void stand(String how, Pipe pipe, ServerSocket server) throws Exception {
        switch (how) {
            case "monitor" -> {
                synchronized (lock) {
                    done = false;
                }
            }
            case "method" -> method();
            case "wait" -> {
                synchronized (lock) {
                    while (!done) lock.wait();
                }
            }
            case "park" -> {
                while (!done) LockSupport.park();
            }
            case "sleep" -> {
                try {
                    Thread.sleep(60_000);
                } catch (InterruptedException expected) {
                    done = true;
                }
            }
            case "pipe" -> pipe.source().read(ByteBuffer.allocate(1));
            case "socket" -> server.accept().close();
            case "class" -> {
                while (!Outside.go) Thread.sleep(1);
                done = Slow.value == 0;
            }
            case "spin" -> Outside.spin();
            case "loop" -> {
                while (!done) Thread.onSpinWait();
            }
            case "dead" -> {}
            default -> throw new IllegalArgumentException(how);
        }
    }

    static void own(String how, Pipe pipe, ServerSocket server) {
        try {
            // Half of them are known to the main thread, so they are shared before.
            for (int i = 0; i < CELLS; i++) {
                if (i % 2 == 0) cells[i] = new Cell();
                cells[i].value = i;
            }
            Outside.owned.countDown();
            Outside.held.await();
            stand(how, pipe, server);
        } catch (Exception unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    static void want(String how) {
        try {
            Outside.owned.await();
            switch (how) {
                case "monitor" -> {
                    synchronized (lock) {
                        Outside.held.countDown();
                        Outside.settle(how);
                        use();
                    }
                }
                case "method" -> {
                    synchronized (Blocked.class) {
                        Outside.held.countDown();
                        Outside.settle(how);
                        use();
                    }
                }
                case "class" -> {
                    Outside.held.countDown();
                    Slow.value = 0;
                }
                default -> {
                    Outside.held.countDown();
                    Outside.settle(how);
                    use();
                }
            }
        } catch (Exception unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String how = arguments[0];
        Thread watchdog = new Thread(() -> {
            try {
                Thread.sleep(30_000);
            } catch (InterruptedException unexpected) {
                return;
            }
            Runtime.getRuntime().halt(9);
        });
        watchdog.setDaemon(true);
        watchdog.start();
        for (int i = 1; i < CELLS; i += 2) {
            cells[i] = new Cell();
            cells[i].value = -1;
        }
        Pipe pipe = Pipe.open();
        ServerSocket server = new ServerSocket(0);
        Thread owner = new Thread(() -> own(how, pipe, server), "owner");
        Outside.owner = owner;
        Thread wanting = new Thread(() -> want(how), "wanting");
        owner.start();
        wanting.start();
        wanting.join();
        done = true;
        Outside.released = true;
        synchronized (lock) {
            lock.notifyAll();
        }
        LockSupport.unpark(owner);
        if (how.equals("sleep")) owner.interrupt();
        pipe.sink().write(ByteBuffer.allocate(1));
        if (how.equals("socket")) new java.net.Socket("localhost", server.getLocalPort()).close();
        owner.join();
        use();
        System.out.println("done");
    }
}
