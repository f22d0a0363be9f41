import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * One thread makes objects, gives each to another, and both go on using it. What they read and wrote they keep account
 * of, in a class that is not rewritten. Arguments: file for the account, objects, how they are given.
 */
public class Handover {
    static final class Item {
        private long value;

        long read() {
            return value;
        }

        void write(long fresh) {
            value = fresh;
        }
    }

    /** Not watched. */
    static final class Account {
        /** A read or write, and one that the first owner makes and that need not be recorded. */
        static final int READ = 0, WRITE = 1, PRIVATE_READ = 2, PRIVATE_WRITE = 3;
        static volatile int taken;
        final byte[] kinds;
        final int[] places;
        final long[] values;
        int size;

        Account(int capacity) {
            kinds = new byte[capacity];
            places = new int[capacity];
            values = new long[capacity];
        }

        void add(int kind, int place, long value) {
            kinds[size] = (byte) kind;
            places[size] = place;
            values[size++] = value;
        }
    }

    static volatile Item ordered;
    static Item racy;
    static Item guarded;
    static final Object lock = new Object();
    static final Item[] slots = new Item[1];
    static final ArrayBlockingQueue<Item> queue = new ArrayBlockingQueue<>(16);

    static void give(String how, Item item) throws InterruptedException {
        switch (how) {
            case "volatile" -> ordered = item;
            case "racy" -> racy = item;
            case "lock" -> {
                synchronized (lock) {
                    guarded = item;
                }
            }
            case "array" -> slots[0] = item;
            default -> queue.put(item);
        }
    }

    static Item get(String how) throws InterruptedException {
        switch (how) {
            case "volatile":
                return ordered;
            case "racy":
                return racy;
            case "lock":
                synchronized (lock) {
                    return guarded;
                }
            case "array":
                return slots[0];
            default:
                return queue.take();
        }
    }

    static void produce(String how, int items, Account account) throws InterruptedException {
        for (int i = 0; i < items; i++) {
            Item item = new Item();
            long fresh = (long) i << 8;
            item.write(fresh | 1);
            account.add(Account.PRIVATE_WRITE, i, fresh | 1);
            give(how, item);
            for (int k = 2; k < 6; k++) {
                account.add(Account.PRIVATE_READ, i, item.read());
                item.write(fresh | k);
                account.add(Account.PRIVATE_WRITE, i, fresh | k);
            }
            if (how.equals("queue")) continue;
            while (Account.taken <= i) Thread.onSpinWait();
        }
    }

    static void consume(String how, int items, Account account) throws InterruptedException {
        Item last = null;
        for (int i = 0; i < items; i++) {
            Item item;
            do {
                item = get(how);
            } while (item == last);
            last = item;
            long fresh = (long) i << 8;
            for (int k = 20; k < 23; k++) {
                account.add(Account.READ, i, item.read());
                item.write(fresh | k);
                account.add(Account.WRITE, i, fresh | k);
            }
            Account.taken = i + 1;
        }
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread thread(String name, Body body) {
        return new Thread(() -> {
            try {
                body.run();
            } catch (Exception unexpected) {
                throw new IllegalStateException(unexpected);
            }
        }, name);
    }

    public static void main(String[] arguments) throws Exception {
        int items = Integer.parseInt(arguments[1]);
        String how = arguments[2];
        Account produced = new Account(items * 9), consumed = new Account(items * 6);
        Thread producer = thread("worker-0", () -> produce(how, items, produced));
        Thread consumer = thread("worker-1", () -> consume(how, items, consumed));
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
        try (DataOutputStream out = new DataOutputStream(
                new BufferedOutputStream(new FileOutputStream(arguments[0])))) {
            for (Account account : new Account[] {produced, consumed}) {
                out.writeInt(account.size);
                for (int i = 0; i < account.size; i++) {
                    out.writeByte(account.kinds[i]);
                    out.writeInt(account.places[i]);
                    out.writeLong(account.values[i]);
                }
            }
        }
    }
}
