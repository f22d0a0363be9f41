package kernels;

/** Lock-heavy: short critical sections on plain objects, some of which threads share and some of which are new. */
public final class Locks {
    static final class Cell {
        private final Object lock = new Object();
        private long value;

        void add(long amount) {
            synchronized (lock) {
                value += amount;
            }
        }

        long get() {
            synchronized (lock) {
                return value;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int size = Team.size(arguments);
        Cell[] shared = new Cell[64];
        for (int i = 0; i < shared.length; i++) {
            shared[i] = new Cell();
        }
        Team.run(arguments, index -> {
            Cell[] own = new Cell[64];
            int number = index + 1;
            for (int i = 0; i < size; i++) {
                number = number * 1103515245 + 12345;
                int at = number >>> 26;
                if (i % 64 == 0 || own[at] == null) {
                    own[at] = new Cell();
                }
                own[at].add(number);
                own[at].get();
                if (i % 8 == 0) {
                    shared[at].add(1);
                }
            }
            return 0;
        });
        long sum = 0;
        for (Cell cell : shared) {
            sum += cell.get();
        }
        System.out.println(sum);
    }
}
