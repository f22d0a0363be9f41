package dev.untorn.program;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The program {@code untorn} as a file that can be started: one that somebody names, or the one in this jar.
 *
 * <p>The one in the jar is unpacked into the user's cache under the sum of its bytes, so versions never get mixed up.
 */
public final class Program {
    private static Path own;

    private final Path file;

    private Program(Path file) {
        this.file = file;
    }

    /** The program at a path that the user gave, or else the one in this jar. */
    public static Program find(String named) {
        if (named == null || named.isEmpty()) {
            return new Program(own());
        }
        Path file = Paths.get(named);
        if (!Files.isExecutable(file)) {
            throw new Unavailable(named + " is no program that can be started; name the file untorn, or nothing for the one that comes with this jar");
        }
        return new Program(file.toAbsolutePath());
    }

    public Path file() {
        return file;
    }

    /** Starts the program with our own streams and gives its status. */
    public int run(Path folder, Map<String, String> environment, List<String> arguments) {
        return wait(start(folder, environment, arguments, ProcessBuilder.Redirect.INHERIT));
    }

    /** Runs the program, hands on its lines as they come, and gives its status. */
    public int run(Path folder, Map<String, String> environment, List<String> arguments, Consumer<String> line) {
        Process process = start(folder, environment, arguments, ProcessBuilder.Redirect.PIPE);
        try (BufferedReader reader = reader(process)) {
            for (String said = reader.readLine(); said != null; said = reader.readLine()) {
                line.accept(said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return wait(process);
    }

    /** Where the library is that a JVM loads with {@code -agentpath}. */
    public Path agent() {
        List<String> said = new ArrayList<>();
        int status = run(Paths.get("").toAbsolutePath(), Map.of(), List.of("generate", "agent"), said::add);
        if (status != 0 || said.isEmpty()) {
            throw new Unavailable(file + " does not say where its agent is: " + String.join(" ", said));
        }
        return Paths.get(said.get(said.size() - 1));
    }

    /** Why there is no program. */
    public static final class Unavailable extends RuntimeException {
        public Unavailable(String message) {
            super(message);
        }
    }

    private Process start(Path folder, Map<String, String> environment, List<String> arguments, ProcessBuilder.Redirect output) {
        List<String> command = new ArrayList<>();
        command.add(file.toString());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectInput(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        if (output == ProcessBuilder.Redirect.PIPE) {
            builder.redirectErrorStream(true);
        } else {
            builder.inheritIO();
        }
        try {
            return builder.start();
        } catch (IOException e) {
            throw new Unavailable(file + " cannot be started: " + e.getMessage());
        }
    }

    private static int wait(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            return 130;
        }
    }

    /** How the folder of this machine's program is called in the jar. */
    static String platform(String system, String processor) {
        String os = system.toLowerCase(Locale.ROOT);
        String cpu = processor.equals("amd64") ? "x86_64" : processor.equals("arm64") ? "aarch64" : processor;
        return (os.contains("linux") ? "linux" : os.replace(' ', '-')) + "-" + cpu;
    }

    /** Looked at once in a JVM: it is large. */
    private static synchronized Path own() {
        if (own == null) {
            own = unpacked();
        }
        return own;
    }

    private static Path unpacked() {
        String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
        byte[] bytes;
        try (InputStream resource = Program.class.getResourceAsStream(platform + "/untorn")) {
            if (resource == null) {
                throw new Unavailable("this jar has no untorn for " + platform + "; build or install one and name it (docs/install.md)");
            }
            bytes = resource.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Path folder = cache().resolve("program").resolve(sum(bytes));
        Path file = folder.resolve("untorn");
        try {
            if (Files.isExecutable(file) && sum(Files.readAllBytes(file)).equals(sum(bytes))) {
                return file;
            }
            Files.createDirectories(folder);
            // Another build may unpack at the same time: the file appears whole or not at all.
            Path unfinished = Files.createTempFile(folder, "untorn", null);
            Files.write(unfinished, bytes);
            if (!unfinished.toFile().setExecutable(true)) {
                throw new IOException("cannot be made executable");
            }
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return file;
        } catch (IOException e) {
            throw new Unavailable("untorn cannot be unpacked to " + folder + ": " + e + "; set XDG_CACHE_HOME to a folder that can be written to");
        }
    }

    private static Path cache() {
        String named = System.getenv("XDG_CACHE_HOME");
        Path base = named == null || named.isEmpty() ? Paths.get(System.getProperty("user.home"), ".cache") : Paths.get(named);
        return base.resolve("untorn");
    }

    private static String sum(byte[] bytes) {
        try {
            StringBuilder text = new StringBuilder();
            for (byte b : MessageDigest.getInstance("SHA-256").digest(bytes)) {
                text.append(String.format("%02x", b));
            }
            return text.substring(0, 24);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Paths as the program takes a class path. */
    public static String joined(List<String> paths) {
        return String.join(File.pathSeparator, paths);
    }

    private static BufferedReader reader(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }
}
