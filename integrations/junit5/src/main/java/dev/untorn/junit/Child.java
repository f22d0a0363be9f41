package dev.untorn.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The JVM that is watched: runs one test and leaves in a file how it ended. */
final class Child implements TestExecutionListener {
    /** Tells the extension where it is. */
    static final String PROPERTY = "untorn.child";

    private boolean ran;
    private Throwable problem;

    private Child() {}

    /** Arguments: the test's unique id, and the file for what it threw. */
    public static void main(String[] arguments) throws IOException {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectUniqueId(arguments[0]))
                .build();
        Child child = new Child();
        LauncherFactory.create().execute(request, child);
        if (!child.ran && child.problem == null) {
            child.problem = new IllegalStateException("the watched JVM did not find the test " + arguments[0]);
        }
        if (child.problem != null) {
            leave(child.problem, Paths.get(arguments[1]));
        }
        // Threads that a test left running do not keep its JVM.
        System.exit(0);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        ran |= test.isTest();
        // The first problem is the innermost one: what contains a test ends behind it.
        if (problem == null) {
            problem = result.getThrowable().orElse(null);
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        ran = true;
    }

    private static void leave(Throwable problem, Path file) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(problem);
        } catch (IOException e) {
            // It carries something that cannot be written: its text can.
            StringWriter text = new StringWriter();
            problem.printStackTrace(new PrintWriter(text));
            bytes.reset();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(new AssertionError(text.toString()));
            }
        }
        Files.write(file, bytes.toByteArray());
    }
}
