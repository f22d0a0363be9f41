package dev.untorn.program;

import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Map;

/** {@code java -jar untorn.jar ARGUMENTS}: the same as {@code untorn ARGUMENTS}. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try {
            Program program = Program.find(System.getProperty("untorn.executable"));
            System.exit(program.run(Paths.get("").toAbsolutePath(), Map.of(), Arrays.asList(arguments)));
        } catch (Program.Unavailable e) {
            System.err.println("untorn: " + e.getMessage());
            System.exit(2);
        }
    }
}
