/**
 * A driver that stays open for long: its steps recurse and leave by exceptions, and a method that it calls at its end is
 * torn by the other thread. It runs twice.
 */
final class Demoted {
    static int total;
    static final Cell cell = new Cell();

    static final class Cell {
        int value;

        void add() {
            int before = value;
            Pause.here();
            value = before + 1;
        }
    }

    /** Not watched: lets the second thread run while the first one is in the middle. */
    static final class Pause {
        static Thread first, second;

        static void here() {
            if (Thread.currentThread() != first) return;
            while (second.getState() == Thread.State.NEW || second.isAlive()) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        static void awaitFirst() {
            while (first.getState() != Thread.State.TIMED_WAITING && first.isAlive()) Thread.onSpinWait();
        }

        static void go() throws Exception {
            first = new Thread(() -> {
                drive(3000);
                drive(3000);
                cell.add();
            });
            second = new Thread(() -> {
                awaitFirst();
                cell.add();
            });
            first.start();
            second.start();
            first.join();
            second.join();
        }
    }

    static void drive(int rounds) {
        for (int i = 0; i < rounds; i++) {
            try {
                step(i);
            } catch (IllegalStateException left) {
                total--;
            }
        }
    }

    static void step(int i) {
        total += i;
        if (i % 5 == 0) deeper(3);
        if (i % 7 == 0) throw new IllegalStateException();
    }

    static void deeper(int depth) {
        total -= depth;
        if (depth > 0) deeper(depth - 1);
        if (depth == 2) throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        Pause.go();
    }
}
