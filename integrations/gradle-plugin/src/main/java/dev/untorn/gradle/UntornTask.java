package dev.untorn.gradle;

import dev.untorn.program.Findings;
import dev.untorn.program.Program;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFile;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.OutputDirectory;

/**
 * What the tasks have in common.
 *
 * <p>When a task runs it uses its own properties alone, never the project, so that it works from the configuration cache.
 */
public abstract class UntornTask extends DefaultTask {
    private FileCollection sources;
    private File folder;
    private File output;
    private File baseline;
    private String failOn = "worth";
    private String executable;

    @InputFiles
    public FileCollection getSources() {
        return sources;
    }

    public void setSources(FileCollection sources) {
        this.sources = sources;
    }

    /** The project's folder: paths in reports are from there. */
    @Internal
    public File getFolder() {
        return folder;
    }

    public void setFolder(File folder) {
        this.folder = folder;
    }

    @OutputDirectory
    public File getOutput() {
        return output;
    }

    public void setOutput(File output) {
        this.output = output;
    }

    @Optional
    @InputFile
    public File getBaseline() {
        return baseline;
    }

    public void setBaseline(File baseline) {
        this.baseline = baseline;
    }

    @Input
    public String getFailOn() {
        return failOn;
    }

    public void setFailOn(String failOn) {
        this.failOn = failOn;
    }

    @Optional
    @Input
    public String getExecutable() {
        return executable;
    }

    public void setExecutable(String executable) {
        this.executable = executable;
    }

    /** Runs a command of the program and fails the build if it says so. */
    final void run(List<String> command) {
        List<Path> existing = new ArrayList<>();
        for (File source : sources) {
            if (source.isDirectory()) {
                existing.add(source.toPath());
            }
        }
        try {
            Findings findings = new Findings(Program.find(executable), folder.toPath(), existing)
                    .failOn(failOn)
                    .baseline(baseline == null ? null : baseline.toPath());
            Path to = output.toPath().resolve("findings.json");
            switch (findings.of(command, to, line -> getLogger().lifecycle(line), line -> getLogger().error(line))) {
                case FOUND:
                    throw new GradleException("Untorn found operations that other threads can tear apart; see " + output.toPath().resolve("findings.html"));
                case FAILED:
                    throw new GradleException("Untorn could not do its work; what it said stands above");
                default:
            }
        } catch (Program.Unavailable e) {
            throw new GradleException(e.getMessage(), e);
        }
    }

    static List<String> existing(FileCollection files) {
        List<String> paths = new ArrayList<>();
        for (File file : files) {
            if (file.exists()) {
                paths.add(file.getPath());
            }
        }
        return paths;
    }
}
