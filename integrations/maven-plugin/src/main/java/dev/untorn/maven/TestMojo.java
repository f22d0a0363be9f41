package dev.untorn.maven;

import dev.untorn.program.Program;
import dev.untorn.program.Watching;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Lets the JVMs that Surefire and Failsafe start record themselves, through the property {@code argLine}.
 *
 * <p>What is in that property already, such as JaCoCo's agent, stays there.
 */
@Mojo(name = "test", defaultPhase = LifecyclePhase.PROCESS_TEST_CLASSES, threadSafe = true)
public class TestMojo extends UntornMojo {
    static final String RECORDINGS = "recordings";
    private static final String PROPERTY = "argLine";

    /** The classes to watch, as patterns; default: the packages of all modules of this build. */
    @Parameter(property = "untorn.include")
    private List<String> include;

    @Override
    void work() {
        if (Watching.already()) {
            getLog().info("These JVMs are watched already, by the untorn around this build; it reports, not this plugin.");
            return;
        }
        Path folder = output().resolve(RECORDINGS);
        Watching.empty(folder);
        Collection<String> patterns = include == null || include.isEmpty() ? own() : include;
        List<String> options = Watching.options(Program.find(executable).agent(), folder, patterns);
        Properties properties = project.getProperties();
        String before = properties.getProperty(PROPERTY, "");
        String added = options.stream().map(option -> '"' + option + '"').collect(Collectors.joining(" "));
        properties.setProperty(PROPERTY, before.isEmpty() ? added : added + " " + before);
        getLog().info("Tests are watched; what they show is in " + folder + ".");
        warn("maven-surefire-plugin");
        warn("maven-failsafe-plugin");
    }

    private Collection<String> own() {
        List<Path> folders = new ArrayList<>();
        for (MavenProject module : session.getProjects()) {
            folders.add(Paths.get(module.getBuild().getOutputDirectory()));
            folders.add(Paths.get(module.getBuild().getTestOutputDirectory()));
        }
        return Watching.packages(folders);
    }

    /** A build file that sets the options itself does not see the property, unless it says so. */
    private void warn(String artifact) {
        Plugin plugin = project.getPlugin("org.apache.maven.plugins:" + artifact);
        Object configuration = plugin == null ? null : plugin.getConfiguration();
        Xpp3Dom line = configuration instanceof Xpp3Dom ? ((Xpp3Dom) configuration).getChild(PROPERTY) : null;
        if (line != null && line.getValue() != null && !line.getValue().contains("{" + PROPERTY + "}")) {
            getLog().warn(artifact + " has an <argLine> of its own, so its tests are not watched; write <argLine>@{argLine} " + line.getValue() + "</argLine>");
        }
    }
}
