import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** Reads lines `CLASS,CLASS… NAME,NAME…` and prints each class that does not exist and each name that no class of its line has. */
public class Exists {
    static void names(Class<?> k, Set<String> into) {
        if (k == null) return;
        for (var method : k.getDeclaredMethods()) into.add(method.getName());
        names(k.getSuperclass(), into);
        for (Class<?> i : k.getInterfaces()) names(i, into);
    }

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] parts = line.split(" ");
            Set<String> known = new HashSet<>();
            for (String name : parts[0].split(",")) {
                try {
                    Class<?> named = Class.forName(name.replace('/', '.'));
                    names(named, known);
                    if (named.getConstructors().length > 0) known.add("<init>");
                } catch (ClassNotFoundException missing) {
                    System.out.println("class " + name);
                }
            }
            for (String name : parts[1].split(",")) {
                if (!known.contains(name)) System.out.println("method " + parts[0] + " " + name);
            }
        }
    }
}
