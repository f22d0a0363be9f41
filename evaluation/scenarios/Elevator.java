import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Two lifts that serve calls from a shared board, after elevator.
 * torn: Controls.claim, which looks for a call under the lock and takes it under the lock once more
 * Pressing buttons and moving are whole: one hold of the lock each, or data of one lift alone.
 */
public class Elevator {
    static final int FLOORS = 12;
    static final int CALLS = 600;

    public static void main(String[] arguments) throws Exception {
        Controls controls = new Controls();
        Lift[] lifts = {new Lift(controls), new Lift(controls)};
        for (int i = 0; i < CALLS; i++) {
            controls.press(i * 7 % FLOORS);
        }
        Thread[] threads = new Thread[lifts.length];
        for (int i = 0; i < lifts.length; i++) {
            threads[i] = new Thread(lifts[i], "lift-" + i);
            threads[i].start();
        }
        for (int i = 0; i < CALLS; i++) {
            controls.press(i * 5 % FLOORS);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(controls.left() + " calls left");
    }
}

/** The board with the calls of all floors. */
final class Controls {
    private final Deque<Integer> calls = new ArrayDeque<>();
    private int pressed;

    synchronized void press(int floor) {
        calls.addLast(floor);
        pressed++;
    }

    synchronized boolean hasCall() {
        return !calls.isEmpty();
    }

    synchronized int take() {
        return calls.isEmpty() ? -1 : calls.removeFirst();
    }

    synchronized int left() {
        return calls.size();
    }

    synchronized boolean allPressed() {
        return pressed == 2 * Elevator.CALLS;
    }

    /** Between the question and the answer another lift may take the last call. */
    int claim() {
        if (hasCall()) {
            return take();
        }
        return -1;
    }
}

/** Goes from floor to floor; its place is its own. */
final class Lift implements Runnable {
    private final Controls controls;
    private int floor;
    private int moved;

    Lift(Controls controls) {
        this.controls = controls;
    }

    @Override
    public void run() {
        while (!controls.allPressed() || controls.left() > 0) {
            int wanted = controls.claim();
            if (wanted >= 0) {
                go(wanted);
            } else {
                Thread.yield();
            }
        }
    }

    private void go(int wanted) {
        while (floor != wanted) {
            floor += floor < wanted ? 1 : -1;
            moved++;
        }
    }
}
