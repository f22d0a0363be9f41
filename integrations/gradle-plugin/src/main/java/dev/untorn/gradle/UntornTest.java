package dev.untorn.gradle;

import dev.untorn.program.Watching;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gradle.api.GradleException;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.TaskAction;

/** Reports what the tests of one task showed, which ran watched before: {@code untorn analyze}. */
public class UntornTest extends UntornTask {
    private File recordings;
    private FileCollection classes;

    /** What was tested, and the tests: findings are ranked by their code. */
    @Internal
    public FileCollection getClasses() {
        return classes;
    }

    public void setClasses(FileCollection classes) {
        this.classes = classes;
    }

    @Internal
    public File getRecordings() {
        return recordings;
    }

    public void setRecordings(File recordings) {
        this.recordings = recordings;
    }

    @TaskAction
    public void report() {
        if (Watching.already()) {
            getLogger().lifecycle("These JVMs are watched already, by the untorn around this build; it reports, not this plugin.");
            return;
        }
        List<Path> files = Watching.recordings(recordings.toPath());
        if (files.isEmpty()) {
            // What nobody looked at must not pass for clean.
            throw new GradleException(Watching.nothing(recordings.toPath()));
        }
        List<String> command = new ArrayList<>(List.of("analyze"));
        files.forEach(file -> command.add(file.toString()));
        existing(classes).forEach(folder -> command.addAll(List.of("--classes", folder)));
        run(command);
    }
}
