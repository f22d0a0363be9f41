package dev.untorn.program;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** One piece of work of a build: findings are saved, shown as SARIF, HTML and text, and decide whether the build fails. */
public final class Findings {
    private final Program program;
    private final Path folder;
    private final List<String> shown = new ArrayList<>();
    private final Map<String, String> environment;
    private String failOn = "worth";
    private Path baseline;

    /**
     * @param folder where the user's project is: paths in reports are from there
     * @param sources folders of sources
     */
    public Findings(Program program, Path folder, List<Path> sources) {
        this.program = program;
        this.folder = folder;
        for (Path source : sources) {
            shown.add("--source");
            shown.add(relative(source));
        }
        // The JDK that the build runs on is the one whose classes the project was compiled against, unless told otherwise.
        this.environment = Map.of("JAVA_HOME", System.getProperty("java.home"));
    }

    public Findings failOn(String what) {
        if (what != null && !what.isEmpty()) {
            failOn = what;
        }
        return this;
    }

    public Findings baseline(Path file) {
        baseline = file;
        return this;
    }

    /** What came of it. */
    public enum Outcome { CLEAN, FOUND, FAILED }

    /**
     * Runs a command of the program, which finds something.
     *
     * @param command such as {@code check}, with its arguments
     * @param to the findings as JSON; beside it appear those as SARIF and HTML
     * @param line takes what the program says while it works
     * @param failed takes the findings, line by line, if they fail the build; else {@code line} does
     */
    public Outcome of(List<String> command, Path to, Consumer<String> line, Consumer<String> failed) {
        List<String> arguments = new ArrayList<>(command);
        arguments.addAll(shown);
        arguments.addAll(List.of("--exit-zero", "-o", to.toString()));
        if (program.run(folder, environment, arguments, line) != 0) {
            return Outcome.FAILED;
        }
        List<String> report = new ArrayList<>(List.of("report", to.toString()));
        report.addAll(shown);
        if (baseline != null) {
            report.addAll(List.of("--baseline", baseline.toString()));
        }
        String name = to.toString().replaceFirst("\\.json$", "");
        for (String ending : List.of(".sarif", ".html")) {
            List<String> form = new ArrayList<>(report);
            form.addAll(List.of("--exit-zero", "-o", name + ending));
            // What it has to say is said once, with the text.
            if (program.run(folder, environment, form, said -> {}) != 0) {
                return Outcome.FAILED;
            }
        }
        report.addAll(List.of("--fail-on", failOn));
        List<String> said = new ArrayList<>();
        int status = program.run(folder, environment, report, said::add);
        said.forEach(status == 0 ? line : failed);
        return status == 0 ? Outcome.CLEAN : status == 1 ? Outcome.FOUND : Outcome.FAILED;
    }

    private String relative(Path path) {
        return path.startsWith(folder) ? folder.relativize(path).toString() : path.toString();
    }
}
