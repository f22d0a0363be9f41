package dev.untorn.maven;

import dev.untorn.program.Program;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.ResolutionScope;

/** Checks the module's classes without running them: {@code untorn check}. */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, requiresDependencyResolution = ResolutionScope.COMPILE, threadSafe = true)
public class CheckMojo extends UntornMojo {
    @Override
    void work() throws MojoExecutionException, MojoFailureException {
        String classes = project.getBuild().getOutputDirectory();
        if (!Files.isDirectory(Paths.get(classes))) {
            getLog().info("Nothing to check: " + classes + " is not there.");
            return;
        }
        List<String> used;
        try {
            used = project.getCompileClasspathElements().stream()
                    .filter(path -> !path.equals(classes) && new File(path).exists())
                    .collect(Collectors.toList());
        } catch (DependencyResolutionRequiredException e) {
            throw new MojoExecutionException(e.getMessage(), e);
        }
        List<String> command = new ArrayList<>(List.of("check", classes));
        if (!used.isEmpty()) {
            command.addAll(List.of("--classpath", Program.joined(used)));
        }
        run(command, "check");
    }
}
