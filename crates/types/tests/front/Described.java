import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Prints which of the described methods no class of this JDK has. */
public class Described {
    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] parts = line.split(" ", -1);
            if (!exists(parts[0].replace('/', '.'), parts[1], parts[2])) System.out.println(line);
        }
    }

    static boolean exists(String type, String name, String descriptor) {
        Class<?> of;
        try {
            of = Class.forName(type, false, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException e) {
            return false;
        }
        if (name.equals("*")) return true;
        List<Executable> all = new ArrayList<>();
        if (name.equals("<init>")) all.addAll(List.of(of.getDeclaredConstructors()));
        else collect(of, name, all);
        return all.stream().anyMatch(each -> descriptor.isEmpty() || describe(each).equals(descriptor));
    }

    static void collect(Class<?> of, String name, List<Executable> all) {
        if (of == null) return;
        if (of.isInterface()) collect(Object.class, name, all);
        for (Method method : of.getDeclaredMethods()) if (method.getName().equals(name)) all.add(method);
        collect(of.getSuperclass(), name, all);
        for (Class<?> above : of.getInterfaces()) collect(above, name, all);
    }

    static String describe(Executable each) {
        Class<?> result = each instanceof Method method ? method.getReturnType() : void.class;
        return MethodType.methodType(result, each.getParameterTypes()).toMethodDescriptorString();
    }
}
