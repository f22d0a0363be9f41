package measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the main method of a class and writes how long the program's own threads were on a processor meanwhile,
 * in nanoseconds: those of the process without the JVM's, which collect garbage and compile.
 */
public final class Measure {
    /** How the names of the JVM's own threads begin. */
    private static final List<String> OF_JVM =
        List.of("C1 Comp", "C2 Comp", "GC Thread", "G1 ", "VM ", "Concurrent", "Monitor Deflati", "Sweeper");

    public static void main(String[] arguments) throws Exception {
        Path out = Path.of(arguments[0]);
        String[] rest = java.util.Arrays.copyOfRange(arguments, 2, arguments.length);
        long before = used();
        Class.forName(arguments[1]).getMethod("main", String[].class).invoke(null, (Object) rest);
        Files.writeString(out, Long.toString(used() - before));
    }

    private static long used() throws IOException {
        long process = ((com.sun.management.OperatingSystemMXBean)
            java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
        long jvm = 0;
        try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                try {
                    String name = Files.readString(task.resolve("comm"));
                    if (OF_JVM.stream().anyMatch(name::startsWith)) {
                        jvm += Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]);
                    }
                } catch (IOException ended) {
                    // A thread that is gone is none of the JVM's, which live on.
                }
            }
        }
        return process - jvm;
    }
}
