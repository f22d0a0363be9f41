package dev.untorn.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.file.FileCollection;
import org.gradle.api.plugins.JavaBasePlugin;
import org.gradle.api.specs.Spec;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.testing.Test;

/**
 * {@code apply plugin: 'dev.untorn'}: {@code untornCheck}, and {@code untornTest} for the task {@code test} and so on for every other task of tests.
 *
 * <p>A task of tests is watched only in builds that ask for its report.
 */
public class UntornPlugin implements Plugin<Project> {
    @Override
    public void apply(Project project) {
        UntornExtension extension = project.getExtensions().create("untorn", UntornExtension.class);
        project.getPlugins().withType(JavaBasePlugin.class, java -> project.afterEvaluate(ready -> configure(ready, extension)));
    }

    private static void configure(Project project, UntornExtension extension) {
        // Gradle calls what holds them a convention at first and an extension later; by this name both have them.
        SourceSetContainer sets = (SourceSetContainer) project.property("sourceSets");
        SourceSet main = sets == null ? null : sets.findByName(SourceSet.MAIN_SOURCE_SET_NAME);
        if (main != null) {
            project.getTasks().create("untornCheck", UntornCheck.class, task -> {
                task.setDescription("Checks the classes of this project for operations that can be torn.");
                set(task, project, extension, "check");
                task.setClasses(main.getOutput().getClassesDirs());
                task.setClasspath(main.getCompileClasspath());
            });
        }
        for (Test test : new ArrayList<>(project.getTasks().withType(Test.class))) {
            FileCollection tests = test.getTestClassesDirs();
            watch(project, extension, test, main == null ? tests : main.getOutput().getClassesDirs().plus(tests));
        }
    }

    private static void watch(Project project, UntornExtension extension, Test test, FileCollection classes) {
        String name = test.getName();
        String report = "untorn" + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        if (project.getTasks().findByName(report) != null) {
            return;
        }
        UntornTest task = project.getTasks().create(report, UntornTest.class);
        set(task, project, extension, name);
        // Not in the task's own output, which Gradle empties before the task runs.
        File recordings = new File(project.getBuildDir(), "untorn/recordings/" + name);
        task.setDescription("Reports which operations the task " + name + " shows torn.");
        task.setRecordings(recordings);
        task.setClasses(classes);
        task.dependsOn(test);
        Watch watch = new Watch(recordings, project.getRootDir(), extension.getInclude(), extension.getExecutable());
        project.getGradle().getTaskGraph().whenReady(graph -> {
            if (graph.hasTask(task)) {
                test.doFirst(watch);
                test.getOutputs().upToDateWhen(new Never());
                task.getOutputs().upToDateWhen(new Never());
            }
        });
    }

    private static void set(UntornTask task, Project project, UntornExtension extension, String name) {
        task.setGroup("verification");
        task.setFolder(project.getProjectDir());
        task.setOutput(new File(project.getBuildDir(), "untorn/" + name));
        task.setSources(project.files(sources(project)));
        task.setFailOn(extension.getFailOn());
        task.setBaseline(extension.getBaseline());
        task.setExecutable(extension.getExecutable());
    }

    /** Where sources usually are, in every project of the build: a finding may be in any of them. */
    private static List<File> sources(Project project) {
        List<File> sources = new ArrayList<>();
        for (Project one : project.getRootProject().getAllprojects()) {
            for (String language : List.of("java", "kotlin", "scala")) {
                sources.add(new File(one.getProjectDir(), "src/main/" + language));
            }
        }
        return sources;
    }

    /** What was not run watched does not count. */
    private static final class Never implements Spec<Task>, java.io.Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public boolean isSatisfiedBy(Task task) {
            return false;
        }
    }
}
