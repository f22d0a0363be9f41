package dev.untorn.program;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/** What a build tells the JVMs of its tests so that they are watched. */
public final class Watching {
    /** Rewritten methods grow, and the JVM would interpret those beyond its limit forever. */
    private static final String JIT = "-XX:-DontCompileHugeMethods";
    private static final String LIBRARY = "libuntorn_agent";

    private Watching() {}

    /** Options of a JVM that records itself into the folder. */
    public static List<String> options(Path agent, Path folder, Collection<String> include) {
        String options = "-agentpath:" + agent + "=out=" + folder.resolve("%p.utr");
        if (!include.isEmpty()) {
            options += ",include=" + String.join(":", include);
        }
        return List.of(options, JIT);
    }

    /** Whether every JVM that is started from here is watched already, as below {@code untorn run}. */
    public static boolean already() {
        String options = System.getenv("JAVA_TOOL_OPTIONS");
        return options != null && options.contains(LIBRARY);
    }

    /** The packages of the classes in these folders and jars, as patterns. */
    public static Set<String> packages(Collection<Path> places) {
        Set<String> packages = new TreeSet<>();
        for (Path place : places) {
            try {
                if (Files.isDirectory(place)) {
                    try (Stream<Path> files = Files.walk(place)) {
                        files.forEach(file -> add(packages, place.relativize(file).toString().replace(File.separatorChar, '/')));
                    }
                } else if (Files.isRegularFile(place)) {
                    try (ZipFile jar = new ZipFile(place.toFile())) {
                        jar.stream().forEach(entry -> add(packages, entry.getName()));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return packages;
    }

    private static void add(Set<String> packages, String file) {
        if (!file.endsWith(".class") || file.startsWith("META-INF/")) {
            return;
        }
        int end = file.lastIndexOf('/');
        // A class without a package is named itself: a bare star would be everything.
        packages.add(end < 0 ? file.substring(0, file.length() - 6) : file.substring(0, end).replace('/', '.') + ".*");
    }

    /** An empty folder for recordings: those of an earlier build speak of other classes. */
    public static void empty(Path folder) {
        try {
            Files.createDirectories(folder);
            for (Path old : recordings(folder)) {
                Files.delete(old);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static List<Path> recordings(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".utr")).sorted().collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What to say when tests ran and nothing was recorded. */
    public static String nothing(Path folder) {
        return "no JVM of the tests left a recording in " + folder
                + ": they ran in the build's own JVM (forkCount 0), on a Java before 17, with another agent of untorn, or their own options replaced those of untorn";
    }
}
