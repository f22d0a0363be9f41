import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Allocates and drops objects, locks and threads for so many seconds, at a steady pace.
 * Shared ones, which is the default, are handed from thread to thread; private ones are not.
 */
public class Soak {
    static final class Item {
        final Object lock = new Object();
        int value;
        Item next;

        void add(int amount) {
            synchronized (lock) {
                value += amount;
            }
        }
    }

    /** Where threads leave items for each other. */
    static final class Shelf {
        private final Item[] places = new Item[64];

        synchronized Item swap(int at, Item item) {
            Item old = places[at];
            places[at] = item;
            return old;
        }
    }

    static final AtomicLong lost = new AtomicLong();
    static final AtomicLong made = new AtomicLong();

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000;
        boolean isPrivate = arguments.length > 1 && arguments[1].equals("private");
        Shelf common = new Shelf();
        while (System.nanoTime() < end) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int number = i;
                Shelf shelf = isPrivate ? new Shelf() : common;
                threads.add(new Thread(() -> work(shelf, number)));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
            Thread.sleep(20);
        }
        System.out.println("lost " + lost.get());
        System.err.println("made " + made.get());
    }

    private static void work(Shelf shelf, int seed) {
        int number = seed + 1;
        made.addAndGet(2000);
        for (int i = 0; i < 2000; i++) {
            number = number * 1103515245 + 12345;
            Item item = new Item();
            item.add(1);
            Item old = shelf.swap(number >>> 26, item);
            if (old != null) {
                old.add(1);
                old.next = item;
                synchronized (old.lock) {
                    if (old.value != 2) {
                        lost.incrementAndGet();
                    }
                    old.next = null;
                }
            }
        }
    }
}
