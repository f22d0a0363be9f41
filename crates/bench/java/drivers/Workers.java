package drivers;

import java.util.zip.CRC32;

/** Threads that work side by side, and what they agree on. */
final class Workers {
    private Workers() {}

    /** What thread number {@code index} does; what it returns goes into the output. */
    interface Work {
        long run(int index) throws Exception;
    }

    /** Runs the work in so many threads and returns what each gave, in their order. */
    static long[] run(int threads, Work work) throws Exception {
        long[] results = new long[threads];
        Exception[] failures = new Exception[threads];
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int index = i;
            all[i] = new Thread(() -> {
                try {
                    results[index] = work.run(index);
                } catch (Exception failure) {
                    failures[index] = failure;
                }
            }, "worker-" + i);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        for (Exception failure : failures) {
            if (failure != null) {
                throw failure;
            }
        }
        return results;
    }

    static void print(String what, long[] results) {
        for (int i = 0; i < results.length; i++) {
            System.out.println(what + " " + i + ": " + Long.toHexString(results[i]));
        }
    }

    static long sum(String text) {
        CRC32 sum = new CRC32();
        sum.update(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return sum.getValue();
    }

    /** A number for what an exception says and where it was thrown; who called there may be chance. */
    static long origin(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        for (Throwable at = thrown; at != null; at = at.getCause()) {
            text.append(at).append('\n').append(at.getStackTrace()[0]).append('\n');
        }
        return sum(text.toString());
    }

    static long mix(long sum, long value) {
        return (sum ^ value) * 0x9E3779B97F4A7C15L + (sum >>> 29);
    }

    static int number(String[] arguments, int at) {
        return Integer.parseInt(arguments[at]);
    }
}
