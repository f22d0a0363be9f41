import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Loads and verifies every class below a directory; prints one line for each that the JVM refuses.
 * With a second argument the classes are those of the JVM itself, patched in.
 */
public class LoadAll extends ClassLoader {
    private final Path root;

    LoadAll(Path root) {
        super(LoadAll.class.getClassLoader());
        this.root = root;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            if (!name.startsWith("java.") && !name.startsWith("untorn.test.")) {
                try {
                    byte[] bytes = Files.readAllBytes(root.resolve(name.replace('.', '/') + ".class"));
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (NoSuchFileException missing) {
                    // The parent may have it.
                } catch (IOException broken) {
                    throw new ClassNotFoundException(name, broken);
                }
            }
            return super.loadClass(name, resolve);
        }
    }

    public static void main(String[] args) throws IOException {
        Path root = Path.of(args[0]);
        List<String> names;
        try (var files = Files.walk(root)) {
            names = files.map(file -> root.relativize(file).toString())
                .filter(file -> file.endsWith(".class") && !file.endsWith("module-info.class"))
                .map(file -> file.substring(0, file.length() - 6).replace('/', '.'))
                .sorted().collect(Collectors.toList());
        }
        ClassLoader loader = args.length > 1 ? ClassLoader.getSystemClassLoader() : new LoadAll(root);
        int linked = 0, incomplete = 0, refused = 0;
        for (String name : names) {
            try {
                // Asking for the methods links the class, and linking verifies it.
                Class.forName(name, false, loader).getDeclaredMethods();
                linked++;
            } catch (VerifyError | ClassFormatError | IncompatibleClassChangeError refusal) {
                refused++;
                System.out.println("refused " + name + ": " + refusal.getClass().getName());
                System.err.println(refusal);
            } catch (ClassNotFoundException | LinkageError | SecurityException incompletePath) {
                incomplete++;
            }
        }
        System.out.println("linked=" + linked + " incomplete=" + incomplete + " refused=" + refused);
    }
}
