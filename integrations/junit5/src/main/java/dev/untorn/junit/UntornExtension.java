package dev.untorn.junit;

import dev.untorn.program.Program;
import dev.untorn.program.Watching;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.lang.annotation.Annotation;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Runs a test in a JVM that is watched, and lets it fail for what is seen torn there. */
public final class UntornExtension implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        watch(invocation, context);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        watch(invocation, context);
    }

    private static void watch(Invocation<Void> invocation, ExtensionContext context) throws Throwable {
        // In the watched JVM itself, or below an untorn that watches all of them and reports by itself.
        if (System.getProperty(Child.PROPERTY) != null || Watching.already()) {
            invocation.proceed();
            return;
        }
        invocation.skip();
        Path folder = Files.createTempDirectory("untorn");
        try {
            run(context, folder);
        } catch (Program.Unavailable e) {
            throw new ExtensionConfigurationException(e.getMessage(), e);
        } finally {
            try (Stream<Path> files = Files.list(folder)) {
                files.map(Path::toFile).forEach(File::delete);
            }
            Files.delete(folder);
        }
    }

    private static void run(ExtensionContext context, Path folder) throws Throwable {
        Program program = Program.find(System.getProperty("untorn.executable"));
        Optional<Untorn> untorn = annotation(context, Untorn.class);
        Path findings = folder.resolve("findings.json");
        Path thrown = folder.resolve("thrown");
        Optional<RepeatedUnderSchedules> schedules = annotation(context, RepeatedUnderSchedules.class);
        List<String> command = new ArrayList<>();
        if (schedules.isPresent()) {
            String runs = Integer.toString(schedules.get().value());
            command.addAll(List.of("reproduce", "--runs", runs, "--replays", "0", "--budget", schedules.get().budget(), "--exit-zero"));
        } else {
            command.addAll(List.of("run", "--exit-code", "program"));
        }
        command.addAll(List.of("-o", findings.toString()));
        for (String pattern : include(untorn)) {
            command.addAll(List.of("--include", pattern));
        }
        Optional<AtomicOperation> atomic = annotation(context, AtomicOperation.class);
        if (atomic.isPresent()) {
            Path specification = folder.resolve("untorn.toml");
            Files.writeString(specification, specification(atomic.get(), context.getRequiredTestClass()));
            command.addAll(List.of("--spec", specification.toString()));
        }
        command.add("--");
        command.addAll(java());
        command.addAll(List.of(context.getUniqueId(), thrown.toString()));
        Path here = Paths.get("").toAbsolutePath();
        List<String> said = new ArrayList<>();
        int status = program.run(here, Map.of(), command, line -> {
            System.out.println(line);
            said.add(line);
        });
        if (Files.exists(thrown)) {
            throw thrown(thrown);
        }
        if (status != 0 || !Files.exists(findings)) {
            throw new IllegalStateException("the test could not be watched (status " + status + "): " + String.join("\n", said.subList(Math.max(0, said.size() - 20), said.size())));
        }
        if (atomic.isPresent() && said.stream().anyMatch(line -> line.contains("nothing was looked at"))) {
            // An expectation that was not put to the test is not met.
            throw new IllegalStateException("the test came to none of the operations that it expects to be atomic: " + String.join(", ", atomic.get().value()));
        }
        // What somebody expects to be one step fails also where nothing else makes it likely.
        String failOn = untorn.map(Untorn::failOn).orElse(atomic.isPresent() || schedules.isPresent() ? "worth" : "high");
        List<String> report = new ArrayList<>(List.of("report", findings.toString(), "--fail-on", failOn));
        for (String language : List.of("java", "kotlin", "scala")) {
            for (String of : List.of("main", "test")) {
                Path source = here.resolve("src").resolve(of).resolve(language);
                if (Files.isDirectory(source)) {
                    report.addAll(List.of("--source", here.relativize(source).toString()));
                }
            }
        }
        List<String> lines = new ArrayList<>();
        status = program.run(here, Map.of(), report, lines::add);
        String text = String.join("\n", lines);
        context.publishReportEntry("untorn", text);
        if (status == 1) {
            throw new TornError(text);
        } else if (status != 0) {
            throw new IllegalStateException(text);
        }
    }

    /** The JVM of the test: as this one, without its agents. */
    private static List<String> java() {
        List<String> command = new ArrayList<>(List.of(Paths.get(System.getProperty("java.home"), "bin", "java").toString()));
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            boolean agent = option.startsWith("-agent") || option.startsWith("-javaagent") || option.startsWith("-Xrun");
            if (!agent) {
                command.add(option);
            }
        }
        command.addAll(List.of("-D" + Child.PROPERTY + "=true", "-cp", System.getProperty("java.class.path"), Child.class.getName()));
        return command;
    }

    private static List<String> include(Optional<Untorn> untorn) {
        String[] named = untorn.map(Untorn::include).orElse(new String[0]);
        if (named.length > 0) {
            return List.of(named);
        }
        // Jars are others' code.
        List<Path> folders = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Paths::get)
                .filter(Files::isDirectory)
                .collect(Collectors.toList());
        return new ArrayList<>(Watching.packages(folders));
    }

    private static String specification(AtomicOperation atomic, Class<?> test) {
        String names = Stream.of(atomic.value())
                .map(name -> '"' + full(name, test.getPackageName()) + '"')
                .collect(Collectors.joining(", "));
        return "[spec]\nheuristic = \"none\"\ninclude = [" + names + "]\n";
    }

    /** {@code Cache.get} is in the package of the test; a name that begins with a package stays as it is. */
    static String full(String name, String of) {
        boolean bare = !name.isEmpty() && Character.isUpperCase(name.charAt(0)) && !of.isEmpty();
        return bare ? of + "." + name : name;
    }

    private static Throwable thrown(Path file) throws IOException {
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
            return (Throwable) in.readObject();
        } catch (ClassNotFoundException e) {
            return new AssertionError("the test failed with " + e.getMessage());
        }
    }

    private static <A extends Annotation> Optional<A> annotation(ExtensionContext context, Class<A> kind) {
        Optional<A> of = AnnotationSupport.findAnnotation(context.getElement(), kind);
        return of.isPresent() ? of : AnnotationSupport.findAnnotation(context.getRequiredTestClass(), kind);
    }
}
