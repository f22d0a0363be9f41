import java.io.DataOutputStream;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.util.SplittableRandom;

/**
 * Threads that read and write shared cells, calling the runtime by hand, and keep their own account of it.
 * Every written value is unique. Arguments: file for the account, threads, operations per thread, cells, percent of
 * writes, kind of threads (platform or virtual), whether to end by halt.
 */
public class Stress {
    /** Numbers of the sites, as the test declares them. */
    static final int READ = 0, WRITE = 1 | UntornRuntime.WRITES, READ_STATIC = 2, WRITE_STATIC = 3 | UntornRuntime.WRITES,
            READ_ELEMENT = 4, WRITE_ELEMENT = 5 | UntornRuntime.WRITES, LOCK = 6, UPDATE_CONTENT = 7 | UntornRuntime.WRITES;

    /** The id of the static field: the second one that the sites name. */
    static final int SHARED_FIELD = 1;

    static class Cell {
        public transient long $untorn;
        long value;
    }

    static long shared;
    static final long[] array = new long[100];

    static final class Account {
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

    static void work(int number, int operations, Cell[] cells, int writes, Account account) {
        UntornThread c = UntornRuntime.context(true);
        SplittableRandom random = new SplittableRandom(number * 7919L + operations);
        long outside = c.open;
        UntornRuntime.begin(0, c);
        for (int i = 0; i < operations; i++) {
            long fresh = (long) (number + 1) << 40 | i + 1;
            boolean write = random.nextInt(100) < writes;
            int what = random.nextInt(100);
            if (what < 70) {
                int place = random.nextInt(cells.length);
                access(cells[place], place, write, fresh, c, account);
            } else if (what < 80) {
                UntornRuntime.lockStatic(SHARED_FIELD, write ? WRITE_STATIC : READ_STATIC, c);
                if (write) shared = fresh;
                long value = shared;
                UntornRuntime.unlockStatic(SHARED_FIELD, write ? WRITE_STATIC : READ_STATIC, c);
                account.add(write ? 1 : 0, 1_000_000, value);
            } else if (what < 90) {
                int index = random.nextInt(array.length);
                UntornRuntime.lockArray(array, index, write ? WRITE_ELEMENT : READ_ELEMENT, c);
                if (write) array[index] = fresh;
                long value = array[index];
                UntornRuntime.unlockArray(array, index, write ? WRITE_ELEMENT : READ_ELEMENT, c);
                account.add(write ? 1 : 0, 2_000_000 + index, value);
            } else {
                // Guarded by the cell's own monitor.
                int place = random.nextInt(cells.length);
                Cell cell = cells[place];
                long mark = c.open;
                synchronized (cell) {
                    UntornRuntime.acquired(cell, LOCK, c);
                    account.add(2, place, 0);
                    access(cell, place, false, 0, c, account);
                    access(cell, place, true, fresh, c, account);
                    account.add(3, place, 0);
                    UntornRuntime.releasing(cell, LOCK, mark, c);
                }
            }
        }
        UntornRuntime.end(0, outside, c);
    }

    static void access(Cell cell, int place, boolean write, long fresh, UntornThread c, Account account) {
        int site = write ? WRITE : READ;
        UntornRuntime.lock(cell, site, c);
        if (write) cell.value = fresh;
        long value = cell.value;
        UntornRuntime.unlock(cell, site, c);
        account.add(write ? 1 : 0, place, value);
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[1]), operations = Integer.parseInt(arguments[2]);
        Cell[] cells = new Cell[Integer.parseInt(arguments[3])];
        for (int i = 0; i < cells.length; i++) cells[i] = new Cell();
        int writes = Integer.parseInt(arguments[4]);
        Account[] accounts = new Account[threads];
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            accounts[i] = new Account(operations * 4);
            Runnable body = () -> work(number, operations, cells, writes, accounts[number]);
            all[i] = arguments[5].equals("virtual") ? virtual(body) : new Thread(body);
            all[i].setName("worker-" + i);
        }
        for (Thread thread : all) thread.start();
        for (Thread thread : all) thread.join();
        if (!arguments[0].equals("-")) {
            try (DataOutputStream out = new DataOutputStream(
                    new BufferedOutputStream(new FileOutputStream(arguments[0])))) {
                for (Account account : accounts) {
                    out.writeInt(account.size);
                    for (int i = 0; i < account.size; i++) {
                        out.writeByte(account.kinds[i]);
                        out.writeInt(account.places[i]);
                        out.writeLong(account.values[i]);
                    }
                }
            }
        }
        System.out.println("done");
        if (arguments[6].equals("halt")) Runtime.getRuntime().halt(3);
    }

    /** Thread.ofVirtual().unstarted(body), which a compiler for Java 17 does not know. */
    static Thread virtual(Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, body);
    }
}
