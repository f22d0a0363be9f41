package untorn.exercise;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Exercises pairs of methods as a job file says, and writes what came of each to a file, a line at once: code that nobody
 * has called may end this process at any time.
 */
public final class Driver {
    /** Threads that may be left behind before another process has to go on. */
    private static final int MOST_LOST = 12;
    /** Races for counting how often they show a tear, and how seldom is too seldom for a test. */
    private static final int COUNTED = 500, SELDOM = 250;

    /** Partners that tear a method visibly, after which the others say nothing new. */
    private static final int ENOUGH = 3;

    /** How many partners tear a method visibly, by its name. */
    private final Map<String, Integer> torn = new HashMap<>();
    private final Job job;
    private final PrintStream results;
    private final Path tests;
    private final Search search;
    /** When time is up. */
    private final long end;

    private Driver(Job job, PrintStream results, Path tests, long end) {
        this.end = end;
        this.job = job;
        this.results = results;
        this.tests = tests;
        search = new Search(job.known, job.seed, job.steered, end);
    }

    public static void main(String[] args) throws IOException {
        long start = System.nanoTime();
        Job job = Job.read(Path.of(args[0]));
        try (PrintStream results = new PrintStream(Files.newOutputStream(Path.of(args[1])), true, "UTF-8")) {
            long end = start + job.milliseconds * 1_000_000L;
            Driver driver = new Driver(job, results, Path.of(args[2]), end);
            if (driver.run()) results.println("done");
        }
        // Threads that were left behind, and those that the classes started.
        Runtime.getRuntime().halt(0);
    }

    /** Few tries of all, then more of each; whether it came to the end of them. */
    private boolean run() {
        List<Job.Line> open = new ArrayList<>(job.pairs);
        for (int pass = job.firstPass; pass < job.passes; pass++) {
            for (Job.Line line : List.copyOf(open)) {
                if (pass == job.firstPass && line.number() <= job.after) continue;
                if (System.nanoTime() - end >= 0) {
                    results.println("over");
                    return true;
                }
                if (search.workers.lost > MOST_LOST) return false;
                if (torn.getOrDefault(line.method(), 0) >= ENOUGH) continue;
                results.println("begin\t" + line.number() + "\t" + pass);
                if (!exercise(line, pass)) {
                    open.remove(line);
                    results.println("closed\t" + line.number());
                }
            }
        }
        return true;
    }

    /** Tries a pair; whether there is more to try. */
    private boolean exercise(Job.Line line, int pass) {
        Pair pair = pair(line);
        if (pair == null) {
            results.println("none\t" + line.number() + "\tit is not public");
            return false;
        }
        Search.Visible visible = null;
        if (job.steered) search.race(pair, pass, line.found());
        else visible = search.look(pair, pass);
        results.println("tried\t" + line.number() + "\t" + search.made + "\t" + search.tries + "\t" + search.waits);
        if (visible == null) return search.made > 0 && search.waits < 2;
        torn.merge(line.method(), 1, Integer::sum);
        tell(line, visible);
        return false;
    }

    private void tell(Job.Line line, Search.Visible found) {
        Search.Visible visible = search.shrink(found);
        String places = search.places(visible);
        double rate = search.rate(visible, COUNTED);
        if (rate == 0 || rate > SELDOM) {
            Search.Visible longer = search.amplified(visible);
            double more = longer == null ? 0 : search.rate(longer, COUNTED);
            if (more > 0 && (rate == 0 || more < rate)) {
                visible = longer;
                rate = more;
            }
        }
        StringBuilder parts = new StringBuilder();
        for (int part : visible.parts()) {
            parts.append('\t').append(escape(visible.of().label(part)))
                    .append('\t').append(escape(visible.seen().parts().get(part)))
                    .append('\t').append(escape(visible.tornFirst().parts().get(part)))
                    .append('\t').append(escape(visible.tornLast().parts().get(part)));
        }
        results.println("visible\t" + line.number() + "\t" + Math.round(rate) + "\t" + places + "\t" + visible.found() + parts);
        String name = TestWriter.name(visible.of());
        Path file = tests.resolve(name + ".java");
        for (int i = 2; Files.exists(file); i++) {
            name = TestWriter.name(visible.of()).replaceAll("Test$", i + "Test");
            file = tests.resolve(name + ".java");
        }
        try {
            Files.writeString(file, new TestWriter(visible, name, rate, job.seed).write());
            results.println("test\t" + line.number() + "\t" + name);
        } catch (IOException failed) {
            results.println("none\t" + line.number() + "\tits test could not be written: " + escape(failed.toString()));
        }
    }

    private static Pair pair(Job.Line line) {
        try {
            Class<?> type = Class.forName(line.type(), true, Driver.class.getClassLoader());
            Method torn = Pair.find(type, line.torn(), line.tornDescriptor());
            Method by = Pair.find(type, line.by(), line.byDescriptor());
            boolean calls = torn != null && by != null;
            return calls ? new Pair(line.number(), type, torn, by) : null;
        } catch (ClassNotFoundException | LinkageError missing) {
            return null;
        }
    }

    private static String escape(String text) {
        return Outcome.readable(text).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }
}
