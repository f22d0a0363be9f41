import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes items, each with a lock, hands them through three threads, and drops them. In each thread every item is locked,
 * read and written once. Arguments: how many items.
 */
public class Dropping {
    static final class Item {
        final Object lock = new Object();
        private int value;

        void add() {
            synchronized (lock) {
                value++;
            }
        }
    }

    /** Where a thread leaves items for the next; not watched, since arrays are not. */
    static final class Shelf {
        private Item[] items;

        synchronized void put(Item[] more) throws InterruptedException {
            while (items != null) {
                wait();
            }
            items = more;
            notifyAll();
        }

        synchronized Item[] take() throws InterruptedException {
            while (items == null) {
                wait();
            }
            Item[] all = items;
            items = null;
            notifyAll();
            return all;
        }
    }

    interface Work {
        void run() throws InterruptedException;
    }

    static final int AT_ONCE = 500;
    static final AtomicInteger wrong = new AtomicInteger();

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = Integer.parseInt(arguments[0]) / AT_ONCE;
        Shelf first = new Shelf(), second = new Shelf();
        Thread[] threads = {
            named("maker", () -> {
                for (int i = 0; i < rounds; i++) {
                    Item[] items = new Item[AT_ONCE];
                    for (int j = 0; j < AT_ONCE; j++) {
                        items[j] = new Item();
                        items[j].add();
                    }
                    first.put(items);
                }
            }),
            named("passer", () -> {
                for (int i = 0; i < rounds; i++) {
                    Item[] items = first.take();
                    for (Item item : items) {
                        item.add();
                    }
                    second.put(items);
                }
            }),
            named("dropper", () -> {
                for (int i = 0; i < rounds; i++) {
                    for (Item item : second.take()) {
                        item.add();
                        if (item.value != 3) {
                            wrong.incrementAndGet();
                        }
                    }
                }
            }),
        };
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(wrong.get() == 0 ? 0 : 3);
    }

    private static Thread named(String name, Work work) {
        return new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException interrupted) {
                wrong.incrementAndGet();
            }
        }, name);
    }
}
