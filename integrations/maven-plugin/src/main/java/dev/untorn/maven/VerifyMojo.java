package dev.untorn.maven;

import dev.untorn.program.Watching;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Reports what the watched tests showed: {@code untorn analyze}. */
@Mojo(name = "verify", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public class VerifyMojo extends UntornMojo {
    @Parameter(property = "skipTests", defaultValue = "false")
    private boolean skipTests;

    @Parameter(property = "maven.test.skip", defaultValue = "false")
    private boolean withoutTests;

    @Override
    void work() throws MojoExecutionException, MojoFailureException {
        boolean tests = Files.isDirectory(Paths.get(project.getBuild().getTestOutputDirectory()));
        if (Watching.already() || skipTests || withoutTests || !tests) {
            return;
        }
        Path folder = output().resolve(TestMojo.RECORDINGS);
        List<Path> recordings = Watching.recordings(folder);
        if (recordings.isEmpty()) {
            // What nobody looked at must not pass for clean.
            throw new MojoExecutionException(Watching.nothing(folder));
        }
        List<String> command = new ArrayList<>(List.of("analyze"));
        recordings.forEach(recording -> command.add(recording.toString()));
        // Findings are ranked by the code that they are in.
        for (String classes : List.of(project.getBuild().getOutputDirectory(), project.getBuild().getTestOutputDirectory())) {
            if (Files.isDirectory(Paths.get(classes))) {
                command.addAll(List.of("--classes", classes));
            }
        }
        run(command, "test");
    }
}
