import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.util.SplittableRandom;

/**
 * As Stress, but an ordinary program: the agent rewrites it. What it reads and writes racily it keeps account of, in a
 * class that is not rewritten. Arguments: file for the account, threads, operations per thread, cells, percent of writes,
 * kind of threads (platform or virtual).
 */
public class Plain {
    static class Base {
        long value;
    }

    static class Cell extends Base {
        volatile long other;
    }

    static long shared;

    /** Not watched. */
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
        SplittableRandom random = new SplittableRandom(number * 7919L + operations);
        for (int i = 0; i < operations; i++) {
            long fresh = (long) (number + 1) << 40 | i + 1;
            boolean write = random.nextInt(100) < writes;
            int place = random.nextInt(cells.length);
            Cell cell = cells[place];
            switch (random.nextInt(4)) {
                case 0 -> {
                    if (write) {
                        cell.value = fresh;
                        account.add(1, place, fresh);
                    } else {
                        account.add(0, place, cell.value);
                    }
                }
                case 1 -> {
                    if (write) {
                        cell.other = fresh;
                        account.add(1, 1_000 + place, fresh);
                    } else {
                        account.add(0, 1_000 + place, cell.other);
                    }
                }
                case 2 -> {
                    if (write) {
                        shared = fresh;
                        account.add(1, 1_000_000, fresh);
                    } else {
                        account.add(0, 1_000_000, shared);
                    }
                }
                default -> {
                    synchronized (cell) {
                        account.add(2, place, 0);
                        account.add(0, place, cell.value);
                        cell.value = fresh;
                        account.add(1, place, fresh);
                        account.add(3, place, 0);
                    }
                }
            }
        }
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
            all[i] = arguments[5].equals("virtual") ? Stress.virtual(body) : new Thread(body);
            all[i].setName("worker-" + i);
        }
        for (Thread thread : all) thread.start();
        for (Thread thread : all) thread.join();
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
}
