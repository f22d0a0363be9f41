/**
 * Philosophers who take their forks in order, after philo.
 * torn: Table.report, which adds up meals one fork at a time
 * Eating is whole: both forks are held for all of it.
 */
public class Philosophers {
    static final int SEATS = 4;
    static final int MEALS = 200;

    public static void main(String[] arguments) throws Exception {
        Table table = new Table();
        Thread[] threads = new Thread[SEATS + 1];
        for (int i = 0; i < SEATS; i++) {
            threads[i] = new Thread(new Philosopher(table, i), "philosopher-" + i);
        }
        threads[SEATS] = new Thread(() -> {
            for (int i = 0; i < MEALS; i++) {
                table.report();
            }
        }, "waiter");
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(table.report() + " uses of forks");
    }
}

final class Fork {
    private int uses;

    synchronized void use() {
        uses++;
    }

    synchronized int uses() {
        return uses;
    }
}

final class Table {
    private final Fork[] forks = new Fork[Philosophers.SEATS];

    Table() {
        for (int i = 0; i < forks.length; i++) {
            forks[i] = new Fork();
        }
    }

    /** Both forks, the lower one first, so that nobody starves. */
    void eat(int seat) {
        int other = (seat + 1) % forks.length;
        Fork first = forks[Math.min(seat, other)];
        Fork second = forks[Math.max(seat, other)];
        synchronized (first) {
            synchronized (second) {
                first.use();
                second.use();
            }
        }
    }

    /** A meal may come between two forks: the sum may be odd. */
    int report() {
        int uses = 0;
        for (Fork fork : forks) {
            uses += fork.uses();
        }
        return uses;
    }
}

final class Philosopher implements Runnable {
    private final Table table;
    private final int seat;

    Philosopher(Table table, int seat) {
        this.table = table;
        this.seat = seat;
    }

    @Override
    public void run() {
        for (int i = 0; i < Philosophers.MEALS; i++) {
            table.eat(seat);
        }
    }
}
