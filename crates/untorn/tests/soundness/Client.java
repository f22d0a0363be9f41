import java.util.Random;
import java.util.concurrent.CyclicBarrier;

/** Clients of the library that do everything they may. */
public class Client {
    static final class Cell implements Store {
        private int value;

        public int get() { return value; }

        public void put(int next) {
            Work.on(2000);
            value = next;
        }

        @Override
        public int hashCode() {
            value++;
            Work.on(2000);
            return value++ & 3;
        }

        @Override
        public boolean equals(Object other) { return other == this; }
    }

    static final class Square extends Shape {
        private final Cell cell;

        Square(Cell cell) { this.cell = cell; }

        @Override
        void part(int pause) {
            cell.put(cell.get() + 1);
            Work.on(pause);
        }
    }

    public static void main(String[] arguments) throws Exception {
        long seed = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        Cell cell = new Cell();
        int[] array = new int[2];
        Link link = new Link();
        Stored[] stored = {new Stored(cell), new Stored(cell)};
        Given[] given = {new Given(array), new Given(array)};
        Keyed[] keyed = {new Keyed(), new Keyed()};
        Asking[] asking = {new Asking(), new Asking()};
        Shape[] shapes = {new Square(cell), new Square(cell)};
        Linked[] linked = {new Linked(link), new Linked(link)};
        CyclicBarrier together = new CyclicBarrier(3);
        Thread[] threads = new Thread[3];
        for (int t = 0; t < threads.length; t++) {
            Random random = new Random(seed * 31 + t);
            threads[t] = new Thread(() -> {
                for (int subject = 0; subject < 6; subject++) {
                    try {
                        together.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    for (int round = 0; round < rounds; round++) {
                        int of = random.nextInt(2);
                        int pause = random.nextInt(4) == 0 ? random.nextInt(100000) : 0;
                        boolean other = random.nextBoolean();
                        switch (subject) {
                            case 0 -> {
                                if (other) stored[of].addBad(1); else stored[of].getBad();
                                stored[of].countOk();
                            }
                            case 1 -> {
                                if (other) given[of].keptBad(pause); else given[of].fillBad(array, pause);
                                given[of].ownOk(pause);
                            }
                            case 2 -> {
                                if (other) keyed[of].putBad(cell); else keyed[of].nameOk("a");
                            }
                            case 3 -> {
                                if (other) asking[of].addBad(cell::hashCode); else asking[of].addOk(1);
                            }
                            case 4 -> {
                                if (other) shapes[of].drawBad(pause); else shapes[of].drawnOk();
                            }
                            default -> {
                                if (other) linked[of].setBad(round, pause); else link.setBad(round, pause);
                            }
                        }
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
    }
}
