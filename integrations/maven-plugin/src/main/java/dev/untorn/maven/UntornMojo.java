package dev.untorn.maven;

import dev.untorn.program.Findings;
import dev.untorn.program.Program;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/** What the goals have in common. */
abstract class UntornMojo extends AbstractMojo {
    @Parameter(defaultValue = "${session}", readonly = true)
    protected MavenSession session;

    @Parameter(defaultValue = "${project}", readonly = true)
    protected MavenProject project;

    /** Where reports and recordings go. */
    @Parameter(defaultValue = "${project.build.directory}/untorn")
    protected File outputDirectory;

    /** The program to use instead of the one that comes with the plugin. */
    @Parameter(property = "untorn.executable")
    protected String executable;

    /** Does nothing. */
    @Parameter(property = "untorn.skip", defaultValue = "false")
    private boolean skip;

    /** Which findings fail the build: worth, high, observed, any, stronger, none. */
    @Parameter(property = "untorn.failOn", defaultValue = "worth")
    private String failOn;

    /** Saved findings that are known, and fail nothing. */
    @Parameter(property = "untorn.baseline")
    private File baseline;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip || "pom".equals(project.getPackaging())) {
            return;
        }
        try {
            work();
        } catch (Program.Unavailable e) {
            throw new MojoExecutionException(e.getMessage(), e);
        }
    }

    abstract void work() throws MojoExecutionException, MojoFailureException;

    final Path output() {
        return outputDirectory.toPath();
    }

    /** Runs a command of the program and fails the build if it says so. */
    final void run(List<String> command, String name) throws MojoExecutionException, MojoFailureException {
        Path root = project.getBasedir().toPath();
        List<Path> sources = new ArrayList<>();
        // Findings may be in any module of the build.
        for (MavenProject module : session.getProjects()) {
            for (String source : module.getCompileSourceRoots()) {
                sources.add(Paths.get(source));
            }
            for (String language : List.of("kotlin", "scala")) {
                sources.add(module.getBasedir().toPath().resolve("src/main").resolve(language));
            }
        }
        Path to = output().resolve(name + ".json");
        try {
            Files.createDirectories(output());
        } catch (IOException e) {
            throw new MojoExecutionException(output() + " cannot be made: " + e.getMessage(), e);
        }
        Findings findings = new Findings(Program.find(executable), root, sources.stream().filter(Files::isDirectory).distinct().collect(Collectors.toList()))
                .failOn(failOn)
                .baseline(baseline == null ? null : baseline.toPath());
        switch (findings.of(command, to, line -> getLog().info(line), line -> getLog().error(line))) {
            case FOUND:
                throw new MojoFailureException("Untorn found operations that other threads can tear apart; see " + output().resolve(name + ".html"));
            case FAILED:
                throw new MojoExecutionException("Untorn could not do its work; what it said stands above");
            default:
        }
    }
}
