/**
 * Boxes are guarded by their own monitors. One thread makes them and uses each alone, then two use them in turn.
 * Arguments: how many boxes.
 */
public class Monitors {
    static final int ALONE = 5, TOGETHER = 4;

    static class Box {
        int value;

        synchronized void add() {
            value++;
        }

        void addTwice() {
            synchronized (this) {
                value++;
                add();
            }
        }

        /** Nobody else knows the box yet, so this only takes its time. */
        synchronized void pause() throws InterruptedException {
            wait(0, 1);
        }
    }

    static volatile Box[] given;
    static volatile int turns;

    static void together(Box[] boxes, int who) {
        for (int k = 0; k < TOGETHER; k++) {
            while (turns != 2 * k + who) Thread.onSpinWait();
            for (Box box : boxes) box.addTwice();
            turns++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        Thread first = new Thread(() -> {
            Box[] boxes = new Box[count];
            for (int i = 0; i < count; i++) {
                boxes[i] = new Box();
                for (int k = 0; k < ALONE; k++) boxes[i].addTwice();
            }
            // One is waited for.
            try {
                boxes[0].pause();
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
            given = boxes;
            together(boxes, 0);
        }, "worker-0");
        Thread second = new Thread(() -> {
            while (given == null) Thread.onSpinWait();
            together(given, 1);
        }, "worker-1");
        first.start();
        second.start();
        first.join();
        second.join();
        int sum = 0;
        for (Box box : given) sum += box.value;
        if (sum != count * 2 * (ALONE + 2 * TOGETHER)) throw new IllegalStateException("sum " + sum);
    }
}
