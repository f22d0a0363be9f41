package dev.untorn.gradle;

import dev.untorn.program.Program;
import dev.untorn.program.Watching;
import java.io.File;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.gradle.api.Action;
import org.gradle.api.GradleException;
import org.gradle.api.Task;
import org.gradle.api.tasks.testing.Test;

/** What a test task does first when it is to be watched: its JVMs get the agent. */
final class Watch implements Action<Task>, Serializable {
    private static final long serialVersionUID = 1;

    private final File recordings;
    private final File root;
    private final ArrayList<String> include;
    private final String executable;

    Watch(File recordings, File root, List<String> include, String executable) {
        this.recordings = recordings;
        this.root = root;
        this.include = new ArrayList<>(include);
        this.executable = executable;
    }

    @Override
    public void execute(Task task) {
        if (Watching.already()) {
            return;
        }
        Test test = (Test) task;
        Watching.empty(recordings.toPath());
        Collection<String> patterns = include.isEmpty() ? own(test) : include;
        try {
            test.jvmArgs(Watching.options(Program.find(executable).agent(), recordings.toPath(), patterns));
        } catch (Program.Unavailable e) {
            throw new GradleException(e.getMessage(), e);
        }
    }

    /** The packages of what lies in the build's own folders. */
    private Collection<String> own(Test test) {
        List<Path> places = new ArrayList<>();
        for (File place : test.getClasspath()) {
            if (place.toPath().startsWith(root.toPath())) {
                places.add(place.toPath());
            }
        }
        return Watching.packages(places);
    }
}
