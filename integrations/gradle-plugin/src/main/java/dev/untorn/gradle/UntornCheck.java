package dev.untorn.gradle;

import dev.untorn.program.Program;
import java.util.ArrayList;
import java.util.List;
import org.gradle.api.file.FileCollection;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.TaskAction;

/** Checks the project's classes without running them: {@code untorn check}. */
public class UntornCheck extends UntornTask {
    private FileCollection classes;
    private FileCollection classpath;

    @Classpath
    public FileCollection getClasses() {
        return classes;
    }

    public void setClasses(FileCollection classes) {
        this.classes = classes;
    }

    @Classpath
    public FileCollection getClasspath() {
        return classpath;
    }

    public void setClasspath(FileCollection classpath) {
        this.classpath = classpath;
    }

    @TaskAction
    public void check() {
        List<String> command = new ArrayList<>(List.of("check"));
        command.addAll(existing(classes));
        if (command.size() == 1) {
            getLogger().lifecycle("Nothing to check: there are no classes.");
            return;
        }
        List<String> used = existing(classpath);
        if (!used.isEmpty()) {
            command.addAll(List.of("--classpath", Program.joined(used)));
        }
        run(command);
    }
}
